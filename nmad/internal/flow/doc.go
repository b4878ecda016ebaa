// Package flow has the protocols between two processes, seen from one side: credit, eager messages and rendezvous, loans,
// rails, aggregation, order, and how a side leaves. It knows no lock and no clock; what it reaches beyond itself is a
// Network. Packets that have come, bytes that have moved and requests go in. Packets leave by Drain; bytes that are to be
// moved and requests that are done come out.
//
//	       Send Receive Post Deliver            Finished
//	               │                               ▲
//	┌──────────────▼───────────── Flow ────────────┴────────────────┐
//	│ queue, gathered, announced (cookies)    posted, unexpected    │
//	│ credit, records                         answers, deferred     │
//	└───────┬──────────────▲───────────────────────┬────────▲───────┘
//	      Drain       Packet(head, body)    Reserve, Copy  Complete
//	        │              │                       │        │
//	        ▼              │                       ▼        │
//	 small track of the first rail            large tracks of all rails
//
// A short message that finds no other before it goes through calls of its own, which need no request and take
// a few assignments: Short, and ShortSent or Refused.
//
// Each protocol is a file, which begins with its drawing: request.go has the stages of a request, stream.go those of a
// chunk, credit.go, records.go, rendezvous.go, lending.go, aggregate.go, gather.go, leaving.go, closing.go what their
// names say; next.go decides what leaves next. docs/wire.md has every frame.
package flow
