// Package serial is the state of a serial function: one that is put into a list and called by the list's holder, never twice
// at the same time, and after which its owner may take it back. Tasklets (in lanes) and ltasks (in queues) are such.
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
// Kill adds K and removes S, whatever else there is: idle and parked are dead at once, running after End (or Drop),
// queued when its holder meets it (Drop). Revive takes K away again.
//
//   - The transition that makes the last condition true for a run sets Q: Schedule, the last Release, or End. Its caller
//     alone links the function into a list, so that it is never in two. The holder of the list, which takes it out, clears Q.
//   - Q and R exclude each other, hence strict serialization without a lock: only a queued one begins, and only one that
//     does not run gets queued.
//
// One that its holder polls again and again (a repeated ltask) stays running meanwhile.
package serial
