// Package plan makes plans of collective operations. A plan is the list of the steps that one rank of a group takes. A
// step sends, receives, reduces or copies; a wait step (WaitMessages) waits for all messages that were started before
// it. A plan knows no network: a thread can take the steps and wait there, or the threads that move messages take them.
//
// All ranks make the plan of an operation from the same numbers, so each send meets a receive. In the comments "in" and
// "out" are parameters: the buffer that has a rank's operand, and the buffer that gets its result. The size of the
// group, the root and the number of elements fix the order in which a plan reduces; for operations that do not commute
// it is the order of the ranks.
package plan
