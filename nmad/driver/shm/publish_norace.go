//go:build !race

package shm

// publish writes the word, and is a full barrier: Go's Store is an XCHG on amd64, and on arm64 a store-release, which
// the load-acquire of Go's Load does not pass.
func (n *notice) publish(v uint64) { n.word.Store(v) }
