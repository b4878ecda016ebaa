// Package presence is how a launcher learns where each process that it has started stands in the job. Only the job knows:
// the exit status of a process does not say whether others still counted on it.
//
//	         joins           the last of the others leaves or ends
//	absent ─────────▶ present ──────────────────────────▶ alone
//	                     │                                  │ closes
//	                     └────────────── closes ──────▶ left ◀─┘
//
// Besides, it says that it has lost another process, once: of several that fail the launcher then knows which is the
// cause, in whatever order it hears of their ends.
//
// The process writes its stage, one byte, to a pipe that it inherits; the last byte counts. The launcher reads the pipe
// once, when the process is dead, so that no thread waits for it, and a stage that was written before is there. A process
// that has ended in the stage Present has left others alone that had their sessions open, whatever its exit status. The
// process learns that it is alone by its control connection, so a launcher needs to know nothing of the ranks of other
// hosts.
package presence
