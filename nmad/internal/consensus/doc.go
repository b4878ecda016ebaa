// Package consensus lets the processes of a job that are still alive agree on a value, and on which processes have
// failed, while any of them may die at any moment. The interface of nmad over it is that of ULFM (Bland, Bouteiller,
// Herault, Bosilca, Dongarra: "Post-failure recovery of MPI communication capability", 2013).
//
// A Participant is the part of one process in these agreements. It is a state machine without clock, network, lock or
// thread: its caller, nmad/agreement.go, tells it by method calls what has happened, and carries out the Actions that
// it returns. A Note is a message from one Participant to another. consensus.go has the protocol and its proof.
package consensus
