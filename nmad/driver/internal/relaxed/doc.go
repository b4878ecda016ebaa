// Package relaxed has words that one caller of a link writes and that the call by which a thread announces that it will
// sleep, perhaps on another thread, reads: what one direction notes, such as that a send was refused, and positions
// that it moves on. That call only finds out by them whether to poll once more, and acts upon nothing that it reads. A
// thread that arms because of what a direction has returned has synchronized with it, and sees that or something newer;
// newer means that a thread is polling.
//
// An aligned word is written and read in one piece on every machine this is for. So plain accesses do, where an atomic
// store would cost the hot path a locked instruction. The store counts as a store in the order of its thread. The race
// detector wants to see atomic ones, and does.
package relaxed
