// Package strategy decides how the messages that wait for a rail leave it: in which
// order, and which of them share a packet. A rail that is idle takes a message at once;
// a strategy is asked when messages have come together because the rail was busy, or
// because several threads are about to send, which is when there is something to gain (the
// optimising scheduler of NewMadeleine: Aumage, Brunet, Furmento, Namyst, 2007).
//
//	started ──▶ rail idle, nothing waits ──────────────────────────▶ its packet
//	       └──▶ else: Overtakes? ──▶ queue ──▶ rail idle: Joins? ──▶ packets
//
// A strategy is one file: a value with the three methods of [Strategy], and its
// registration. A fourth method is optional: with [Splitter.Split] it shares a long message out
// over several rails; without it the rail that ends first gets the whole message. Programs register their own ones with [Register], and choose by
// nmad.Config.Strategy or the environment.
package strategy
