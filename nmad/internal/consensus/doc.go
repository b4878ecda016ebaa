// Package consensus is one process's part in agreements among the processes that are left, each of which may die at any
// moment. The interface of nmad over it is that of ULFM (Bland, Bouteiller, Herault, Bosilca, Dongarra: "Post-failure
// recovery of MPI communication capability", 2013).
//
// Participant is a state machine without clock, network, lock or thread: its caller, nmad/agreement.go, tells
// it what happens, and it says by Actions what is to be done. Note is what the processes tell each other.
package consensus
