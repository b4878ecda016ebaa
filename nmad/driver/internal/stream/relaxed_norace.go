//go:build !race

package stream

// store and load are for what one direction notes and Arm, perhaps on another
// thread, reads. A thread that arms because of what a direction returned has
// synchronised with it, and sees this or something newer; newer means that
// a thread is polling. So plain accesses to an aligned word do.
func store(p *uint64, v uint64) { *p = v }
func load(p *uint64) uint64     { return *p }
