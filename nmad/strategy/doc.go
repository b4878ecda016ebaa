// Package strategy decides how messages that wait for a rail leave: in which order, which of them share a packet, and
// over which rails a long message goes. A rail that is idle takes a message at once. A gate asks its strategy when
// several messages wait because the rail was busy, or when several threads are about to send: only then there is
// something to gain (the optimizing scheduler of NewMadeleine: Aumage, Brunet, Furmento, Namyst, 2007).
//
//	started ──▶ rail idle, nothing waits ──────────────────────────▶ its packet
//	       └──▶ else: Overtakes? ──▶ queue ──▶ rail idle: Joins? ──▶ packets
//
// Each strategy has a file of its own: a value with the three methods of [Strategy], and its registration. A fourth
// method is optional: [Splitter.Split] shares a long message out over several rails; without it the rail that would
// finish first gets the whole message. A program may register strategies of its own with [Register]. It chooses one by
// nmad.Config.Strategy or by PM2_STRATEGY.
package strategy
