package pioman

// CPUSet is a set of processors, as the kernel counts them: bit i of word w is
// processor 64*w+i. Empty: any.
type CPUSet []uint64

// stop is one queue on a poller's way.
type stop struct {
	queue *Queue
	every uint32 // visited in every so manieth round of that poller; at least 1
}

// placement decides which queue a task goes to and which queues a poller visits.
// It is consulted when an engine is made (way) and at every Submit (queue); what
// it answers for one argument never changes.
//
// A tree over the topology has one queue per item of every level that has siblings:
// queue gives the queue of the lowest item that covers the set; way leads from the
// leaf of the virtual processor to the root, each parent with the number of its
// children multiplied into every, so that a level sees about one visit per
// round of all its children.
type placement interface {
	queue(set CPUSet) *Queue
	way(vp int) []stop // vp < 0: a caller on no virtual processor
	queues() []*Queue  // all of them
}

// single is the placement with one queue, that of the whole machine: it is
// the lowest item that covers any set, and the whole way of any poller.
type single struct{ stops []stop }

func newSingle(newQueue func() *Queue) placement {
	return &single{stops: []stop{{queue: newQueue(), every: 1}}}
}

func (s *single) queue(CPUSet) *Queue { return s.stops[0].queue }
func (s *single) way(int) []stop      { return s.stops }
func (s *single) queues() []*Queue    { return []*Queue{s.stops[0].queue} }
