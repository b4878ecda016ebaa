package pioman

import "github.com/pm2-go/pm2/sched"

// owned is what the holder of a queue keeps of a Destroy task while its handler runs.
type owned struct {
	on     bool
	name   string
	notify *Completion
	bits   uint32
	opt    Options
}

// pollOwned polls a Destroy task, the head of the list, which it takes out first: its handler may
// free the memory, and then nothing of it is touched any more. What is needed
// afterwards is read before.
//
// A OneShot one belongs to its handler from the beginning; a Repeat one does once the
// handler has returned Done.
func (q *Queue) pollOwned(t *Task) outcome {
	q.removeHead()
	if t.opt&Repeat == 0 && !t.state.destroy() {
		q.drop(t) // cancelled in the last moment
		return moved
	}
	q.owned = owned{true, t.name, t.notify, t.bits, t.opt}
	q.current = t
	var status Status
	if sched.Tracing() {
		status = traced(t)
	} else {
		status = t.fn(t)
	}
	q.current = nil
	switch {
	case status == Done || q.owned.opt&Repeat == 0:
		q.endOwned(0)
		return moved
	case t.state.cancelling():
		q.owned = owned{}
		q.drop(t)
		return moved
	}
	q.owned = owned{}
	q.append(t)
	if status == Moved {
		return moved
	}
	return polled
}

// endOwned is end for a task of which nothing is left but q.owned. It returns its name.
func (q *Queue) endOwned(extra uint32) string {
	a := q.owned
	q.owned = owned{}
	q.engine.tally(a.opt, -1)
	if a.notify != nil {
		a.notify.Signal(a.bits | extra)
	}
	return a.name
}
