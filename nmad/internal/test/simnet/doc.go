// Package simnet is a network that exists in memory only, for tests: a driver.Driver without sockets or shared
// segments. Nothing happens in it by itself; what a test does to it in which order decides everything, so a failure
// repeats. Its time is virtual: it passes when a test calls [Link.Tick], and matters to connections with a Rate only.
//
//	a.Send ──▶ [packet][packet] ──▶ b.Recv        small track, at most Packets at once
//	a.Push ──▶ [bytes.......] ──▶ b.Pull    large track, at most Large bytes
//
// Faults are set on a link while it is used: [Link.Hold] refuses room, [Link.Delay] keeps what is sent back until
// [Link.Deliver], [Link.Buffer] lets packets sit in a driver's buffer until Flush finds room, [Link.Break] ends the
// connection after what has arrived, [Link.Inject] puts in whatever a hostile peer might send. Arm and Disarm are
// recorded, and [Link.Woken] tells whether a sleeper would have been woken.
package simnet
