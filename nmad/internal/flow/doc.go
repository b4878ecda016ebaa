// Package flow has the protocols between two processes, seen from one side: credit, eager messages and rendezvous,
// loans, rails, aggregation, order, and how a side leaves. It knows no lock, no clock and no link. The gate
// tells a Flow about requests that start, packets that have come, and bytes that have moved. The Flow gives the gate
// packets to send (Drain), bytes to move (Stream), and requests that have finished (Finished). A Network is what a Flow
// calls.
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
// A short message that finds no other message before it needs no request: its sender calls ShortHeader, hands the
// header and the body to the link, and then calls ShortSent or Refused. That takes a few assignments.
//
// Each protocol has a file, which begins with its drawing: request.go has the stages of a request, stream.go those of a
// chunk; credit.go, records.go, rendezvous.go, lending.go, exposing.go, aggregate.go, gather.go, leaving.go and
// closing.go have what their names say; next.go decides which packet leaves next. docs/wire.md has every frame.
package flow
