package taskqueue

import (
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// Tree is pioman's engine, polled by hand.
type Tree struct {
	e     *pioman.Engine
	touch Touch
}

// NewTree makes an engine over a machine with a VP for each PU.
func NewTree(t *topo.Topology, touch Touch) (*Tree, error) {
	c := pioman.Config{Name: "taskqueue", Topology: t}
	if touch != nil {
		c.Watch = func(it *topo.Item, a pioman.Access) { tell(touch, it, a) }
	}
	e := pioman.New(c)
	if _, err := e.Attach(&pollers{vps: len(t.PUs())}); err != nil {
		return nil, err
	}
	return &Tree{e, touch}, nil
}

// pending is the engine's word of pending requests, which every hook reads first.
var pending = Line{Of: "pending"}

const (
	submissionsLine = iota
	holderLine
	mainLine // the main list, handed from holder to holder
)

// tell translates what the engine says.
func tell(touch Touch, it *topo.Item, a pioman.Access) {
	var of any
	if it != nil {
		of = it
	}
	at := func(part int, k Kind) { touch(Line{of, part}, k) }
	switch a {
	case pioman.Look:
		at(0, Visit)
		at(holderLine, Read)
	case pioman.Peek:
		at(submissionsLine, Read)
	case pioman.Lock:
		at(holderLine, Write)
		at(mainLine, Write)
	case pioman.Skip:
		at(holderLine, Fail)
	case pioman.Unlock:
		at(holderLine, Write)
	case pioman.Push, pioman.Drain:
		at(submissionsLine, Write)
	case pioman.Count:
		touch(pending, Write)
	}
}

// Name implements Queues.
func (*Tree) Name() string { return "tree (ours)" }

// Prepare implements Queues.
func (t *Tree) Prepare(j *Job) {
	j.task.Init("job", func(*pioman.Task) pioman.Status {
		if j.Run != nil {
			j.Run()
		}
		if t.touch != nil {
			t.touch(Line{Of: j}, Write) // its state and completion
		}
		return pioman.Done
	}, pioman.OneShot)
	j.task.SetCPUs(j.CPUs)
}

// Submit implements Queues.
func (t *Tree) Submit(j *Job) error {
	j.done.Reset()
	j.task.Notify(&j.done, 1)
	return t.e.Submit(&j.task)
}

// Poll implements Queues. In a simulation it first reads what a hook reads.
func (t *Tree) Poll(vp int) {
	if t.touch != nil {
		t.touch(pending, Read)
	}
	t.e.PollAs(vp)
}

// Finished implements Queues.
func (t *Tree) Finished(j *Job) bool { return j.done.Test(1) }

// Close implements Queues.
func (t *Tree) Close() error { return t.e.Close() }

// pollers is a scheduler whose virtual processors are the callers of Poll; its hooks never fire.
type pollers struct {
	set hooks.Set
	vps int
}

func (p *pollers) Hooks() *hooks.Set        { return &p.set }
func (p *pollers) NumVP() int               { return p.vps }
func (p *pollers) CurrentVP() int           { return 0 } // so that no VP is woken
func (p *pollers) Kick(int)                 {}
func (p *pollers) SetSleeper(sched.Sleeper) {}
func (p *pollers) Shared() bool             { return false }
