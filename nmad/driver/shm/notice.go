package shm

import "sync/atomic"

// notice is a word of a segment by which one side tells the other that there is something for it, and then looks
// whether it sleeps: T1 and T2 of doc.go. So it has no plain Store, only publish, after which no load is carried out before
// the other side can see the word.
type notice struct{ word atomic.Uint64 }

// Load reads it.
func (n *notice) Load() uint64 { return n.word.Load() }
