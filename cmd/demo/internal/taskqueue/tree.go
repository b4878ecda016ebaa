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
	round func(vp int) // of the engine's hooks
	touch Touch
}

// NewTree makes an engine over a machine with a VP for each PU.
func NewTree(t *topo.Topology, touch Touch) (*Tree, error) {
	e := pioman.New(pioman.Config{Name: "taskqueue"})
	p := &pollers{queues: sched.Plan(t, len(t.PUs())), vps: len(t.PUs()), touch: touch}
	if _, err := e.Attach(p); err != nil {
		return nil, err
	}
	return &Tree{e, p.round, touch}, nil
}

// pending is the engine's word of pending requests, which every hook reads first.
var pending = Line{Of: "pending"}

const (
	submissionsLine = iota
	holderLine
	mainLine // the main list, handed from holder to holder
)

// tell translates what the engine says.
func tell(touch Touch, it *topo.Item, a string) {
	var of any
	if it != nil {
		of = it
	}
	at := func(part int, k Kind) { touch(Line{of, part}, k) }
	switch a {
	case "look":
		at(0, Visit)
		at(holderLine, Read)
	case "peek":
		at(submissionsLine, Read)
	case "lock":
		at(holderLine, Write)
		at(mainLine, Write)
	case "skip":
		at(holderLine, Fail)
	case "unlock":
		at(holderLine, Write)
	case "push", "drain":
		at(submissionsLine, Write)
	case "count":
		touch(pending, Write)
	default:
		panic("an access that the simulation does not know: " + a)
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
	t.round(vp)
}

// Finished implements Queues.
func (t *Tree) Finished(j *Job) bool { return j.done.Test(1) }

// Close implements Queues.
func (t *Tree) Close() error { return t.e.Close() }

// pollers is a scheduler whose VPs are the callers of Poll; its hooks never fire.
type pollers struct {
	set    hooks.Set
	queues []*sched.Queue
	vps    int
	touch  Touch
	round  func(vp int)
}

// Simulate is called by Attach.
func (p *pollers) Simulate(round func(vp int)) func(*topo.Item, string) {
	if p.round = round; p.touch == nil {
		return nil
	}
	return func(it *topo.Item, a string) { tell(p.touch, it, a) }
}

func (p *pollers) Hooks() *hooks.Set           { return &p.set }
func (p *pollers) NumVP() int                  { return p.vps }
func (p *pollers) CurrentVP() int              { return 0 } // so that no VP is woken
func (p *pollers) Kick(int)                    {}
func (p *pollers) SetSleeper(sched.Sleeper)    {}
func (p *pollers) SharedCPUs() bool            { return false }
func (p *pollers) Idle(int) (idle, awake bool) { return }
func (p *pollers) Queues() []*sched.Queue      { return p.queues }
