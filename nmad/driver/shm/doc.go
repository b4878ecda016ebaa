// Package shm links two processes of one host through memory that both map.
//
//	demo run -n 2 --driver shm ./program     also by nmad.Config.Driver, PM2_DRIVER; auto chooses it on one host
//
//	sender ── header and 32 bytes ──▶ [ cell ][ cell ][ cell ] ... ──▶ the receiver polls the next cell's ready word
//	       ── longer bodies ────────▶ [ body ring                ]
//	       ── long messages ────────▶ [ slot ][ slot ] ...             or one copy, made by both sides at once
//
// A message of up to 32 bytes moves one cache line from core to core, once, and nothing else: no second line, no system
// call, no lock. The waiter polls that line, or sleeps in the kernel until the sender writes to its eventfd.
//
// # The segment
//
// One per link: a memfd, which has no name anywhere and vanishes with the last process that holds it. For either
// direction it has
//
//	cells        one line each: a packet. The header in its wire form, of which
//	             the first word is the ready word, and 32 bytes of body
//	body ring    bodies that do not fit into a cell, each in one piece
//	slots        pieces of the large track's stream, and a ready word for each
//	credits      how far the receiver is: two words for the packets, some for the large track
//	share        what of an offer is being fetched, and by which side
//
// and for either side two flags about its sleep. Words that different cores write are 128 bytes apart, as lines are
// fetched in pairs; cells are not, as each is written by one side and a neighbor fetched early is the next one.
//
// README.md, beside the code, has the protocols: how a packet travels without a question, how both sides copy a long
// message at once, why no sleeper is forgotten, what is checked of a peer, what a death leaves.
package shm
