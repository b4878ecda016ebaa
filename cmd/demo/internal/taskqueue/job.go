package taskqueue

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched/topo"
)

// apart keeps words that different processors write on different lines.
const apart = 128

// Job is an empty task, or one with a Run, that is run once for each Submit. It must not be copied, nor submitted again
// before it is Finished.
type Job struct {
	CPUs topo.CPUSet // near which; empty: anywhere
	Run  func()      // nil: nothing to do
	_    [apart - 32]byte

	// The tree's. What goes to and fro with a task, and what it signals, are one line.
	done pioman.Completion
	task pioman.Task
	_    [apart - 104]byte

	// The others': one line, too.
	next     *Job
	finished atomic.Uint32 // the runner writes, the submitter reads
	_        [apart - 16]byte
}

// run is a poller's; the store is its last touch of the job.
func (j *Job) run(touch Touch) {
	if j.Run != nil {
		j.Run()
	}
	if touch != nil {
		touch(Line{Of: j}, Write)
	}
	j.finished.Store(1)
}

// Queues is a way to hand jobs to pollers. Submit and Poll may be called by any number of threads, Poll by one for each
// VP.
type Queues interface {
	Name() string
	// Prepare must be called once for each job, when its CPUs and Run are set.
	Prepare(j *Job)
	// Submit puts a job into the queue for its CPUs.
	Submit(j *Job) error
	// Poll makes a round of a VP.
	Poll(vp int)
	// Finished reports whether a submitted job has run. Once it has told so it may be submitted again.
	Finished(j *Job) bool
	// Close ends it, when no job is submitted and no thread polls any more.
	Close() error
}

// Kind of an access.
type Kind uint8

// The kinds.
const (
	Read  Kind = iota
	Write      // also an atomic operation that writes
	Fail       // a read that found a lock held
	Visit      // no access: a poller comes to a queue
)

// Line is a line of memory that several processors write.
type Line struct {
	Of   any // the item whose queue it belongs to (nil: the global one), a *Job, or a name
	Part int // of several lines of one owner
}

// Touch is called before each access to such a line.
type Touch func(Line, Kind)

// All makes each variant for that machine; touch nil: not watched.
func All(t *topo.Topology, touch Touch) ([]Queues, error) {
	tree, err := NewTree(t, touch)
	if err != nil {
		return nil, err
	}
	return []Queues{tree, NewLevels(t, touch), NewSpinlock(touch), NewFIFO(touch)}, nil
}
