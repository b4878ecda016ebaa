// Package tcp links two processes by two TCP connections, one for each track.
//
//	demo run -n 2 --driver tcp ./program     also by nmad.Config.Driver, PM2_DRIVER; two rails: tcp,tcp
//
//	process A ══ connection 1: packets, in order ═══════ process B
//	          ══ connection 2: bytes of long messages ══
//
// Package internal/stream has how two streams make a link, and how a thread polls them and sleeps. Here is what is
// special about TCP. A poll that finds nothing costs half a microsecond in the kernel; the layer above limits how often
// it polls.
//
// # Set-up
//
// No delay (Nagle's algorithm would hold back the second of two short packets). Over loopback the congestion control is
// set to reno, or cubic, if the system allows it: bbr paces what it sends, and halves the throughput where nothing can
// be congested. A process that ends is noticed at once, as its kernel says so; a host that vanishes, after 15 s of
// silence (keepalive), or, if bytes were on the way to it, when the kernel gives up sending them again.
//
// The listener binds 127.0.0.1 unless it is told otherwise.
package tcp
