// Package plan has the collective operations as plans: what one rank of a group does, as a list of steps. A step
// sends, receives, reduces or copies; a fence waits for what was started before it. A plan knows no network: any
// carrier can follow it, a thread that waits at fences, or an engine that goes on when requests end.
//
// All ranks make the plan of an operation from the same numbers, so their steps meet. The plan of an operation
// decides in which order values are reduced: it is fixed by the size of the group, the root and the count, and for
// operations that do not commute it is the order of ranks.
package plan
