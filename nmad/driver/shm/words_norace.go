//go:build !race

package shm

// publish writes the word, and is a full barrier: Go's Store is an XCHG on amd64, and on arm64 a store-release, which
// the load-acquire of Go's Load does not pass.
func (n *notice) publish(v uint64) { n.word.Store(v) }

// store and load are for positions that one caller moves on and that Arm, on
// another thread, reads: only to find something there that has just been taken
// (it then says so, and the caller polls once too often), never to act upon. An
// aligned word is written and read in one piece on every machine this is for,
// so plain accesses do, where an atomic store would cost the hot path a locked
// instruction. The store counts as a store in the order of this thread, and
// the argument in README.md needs no more.
func store(p *uint64, v uint64) { *p = v }
func load(p *uint64) uint64     { return *p }
