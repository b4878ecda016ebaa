package profile

import (
	"context"
	"errors"
	"runtime/pprof"
	"runtime/trace"

	"github.com/pm2-go/pm2/sched"
)

// Key is the name of the label, and Type the type of the tasks and regions.
const (
	Key  = "marcel_thread"
	Type = "marcel thread"
)

// ErrActive says that threads are marked already, by Label, Region, or another user of
// sched.Around.
var ErrActive = errors.New("profile: threads are marked already: end that first")

// Label has threads carry the pprof label Key, whose value is the thread's name, or "thread" and its number if it has
// none. The function that it returns ends that, for threads that start later. ErrActive.
func Label() (remove func(), err error) {
	return mark(labeled)
}

// Region surrounds threads by a task and a region of runtime/trace, while such a trace is being recorded; the name is
// in the task. It labels them as well. ErrActive.
func Region() (remove func(), err error) {
	return mark(func(t sched.Thread, run func()) {
		if !trace.IsEnabled() {
			labeled(t, run)
			return
		}
		ctx, task := trace.NewTask(context.Background(), name(t))
		defer task.End() // also when the thread panics or exits
		region := trace.StartRegion(ctx, Type)
		defer region.End()
		labeled(t, run)
	})
}

// mark has each thread that starts from now on call f around its code.
func mark(f func(sched.Thread, func())) (func(), error) {
	if !sched.Around(f) {
		return nil, ErrActive
	}
	return func() { sched.Around(nil) }, nil
}

// labeled runs a thread with its label. The goroutine serves other threads afterwards, which may come without.
func labeled(t sched.Thread, run func()) {
	pprof.Do(context.Background(), pprof.Labels(Key, name(t)), func(context.Context) { run() })
}

// name returns the value of the label of a thread.
func name(t sched.Thread) string {
	if n := t.Name(); n != "" {
		return n
	}
	return t.String()
}
