// Package serial is the state of a serial function: a function that is put into a list and called by the list's holder,
// never twice at the same time, and that its owner may take back. Tasklets (in lanes) and ltasks (in queues) are serial
// functions.
//
//	             Schedule                Begin
//	idle ──────────────────▶ queued ────────────▶ running ─── End ──▶ idle
//	 │  0                      S Q   ◀──.            R
//	 │                        ▲    │     \           │ Schedule
//	 │ Schedule,      Release │    │ Begin,\ End     ▼
//	 │ held         (the last)│    │ held  `─── again (R S)
//	 │                        │    ▼             │ End, held
//	 `─────────────────────▶ parked (S) ◀────────'
//
// Kill adds K and removes S in any state: an idle or parked function is dead at once, a running one after End (or
// Drop), a queued one when the holder of the list takes it out (Begin, Drop). Revive removes K again.
//
//   - The transition after which a function is to run and may run sets Q: Schedule, the last Release, or End. Only the caller
//     of that transition links the function into a list, so it is never in two lists. The holder of the list, which takes it
//     out, clears Q.
//   - Q and R exclude each other. So runs of a function never overlap, without a lock: only a queued function begins, and only
//     one that does not run gets queued.
//
// A function that its holder calls again and again (a repeated ltask) stays running meanwhile.
package serial
