//go:build race

package shm

// publish: see publish_norace.go. In a binary with the race detector Store is one of ThreadSanitizer, and only a
// store-release. For memory of Go's own it takes a lock around it, which makes a barrier of it as well. Of a segment it
// knows nothing, and what is left is a MOV on amd64: the look at the other side's flag overtakes it, and the bell never
// rings. Its exchange is an XCHG wherever the word lies.
func (n *notice) publish(v uint64) { n.word.Swap(v) }
