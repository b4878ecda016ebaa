// Package presence lets each process tell its launcher, by a pipe, which stage of the job it has reached: its Teller
// writes stages, and the launcher's Watch reads the last one when the process has ended. The exit status of a process
// does not say whether other processes still needed it; the last stage does.
//
//	         joins           the last of the others leaves or ends
//	absent ─────────▶ present ──────────────────────────▶ alone
//	                     │                                  │ closes
//	                     └────────────── closes ──────▶ left ◀─┘
//
// In any stage the process also tells, once, that it has lost another process (Lost). If several processes fail, the
// launcher then knows which of them is the cause, in whatever order it hears of their ends.
//
// A stage is one byte in the pipe, which the process inherits. The launcher reads the pipe once, when the process is
// dead: so no thread of the launcher waits for it, and all that the process has written is there. A process that has
// ended in the stage Present has left others alone whose sessions were open, whatever its exit status. The process
// learns by its control connection that it is alone, so the launcher need not know about the ranks of other hosts.
package presence
