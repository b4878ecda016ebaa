// Package numa decides near which processors a link lies: which NUMA node the memory is to come from through which
// messages arrive, and which node a network device belongs to.
//
//	the processors of the process              what arrives by shared memory    polled by
//	all in one node                            there                            any: all are near
//	in several, and linked by a thread in one  there                            that node's
//	the machine has one node                   as it comes                      any
//
//	a network device with a node: that node's processors poll, if the process has some there
//
// The receiver decides, since it reads what arrives more often than the sender writes it: a poll in vain looks there,
// too. Where a process may run on several nodes nothing is known of which thread will receive; then all of what arrives
// through a link is at least on one node, and it is polled from there.
//
// Decisions are pure functions of a [topo.Topology]; Here and Through apply them to this process.
// docs/decisions/near-which-memory.md has the reasons, and says what was simulated.
package numa
