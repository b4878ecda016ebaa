// Package duo runs two processes that measure something together: this one, rank 0, and a second one, rank 1, that it
// starts from the same program, each bound to a CPU of its own.
//
//	rank 0: demo experiment ...             rank 1: the same program
//	   Start ──── launch, environment ────▶  Follow
//	   Order(o) ───── control session ────▶  act(o)         both open a World of their
//	   open a World, play                    open, play     own for each order, the same
//	   Answer ◀───────────────────────────   ok, or why not setup on either side
//	   Close ─────────────────────────────▶  ends
//
// Orders and answers are JSON in messages of a session over TCP whose engine is explicit and its own: while something
// is measured no other thread polls it. A World is a scheduler, an engine and a session (or a bare link), made for one
// measurement, so that each variant of an experiment has the parameters that it names and nothing of its predecessor's.
//
// Pair.Many runs further pairs of processes for one measurement, which are a job of their own without the two.
package duo
