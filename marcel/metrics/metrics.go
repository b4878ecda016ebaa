package metrics

import (
	"errors"
	"expvar"
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/sched"
)

// ErrPublished says that expvar has a variable of that name, and forgets none.
var ErrPublished = errors.New("metrics: a variable of that name is published already")

var mu sync.Mutex // between the look and the publication

// Publish publishes the counters of the default scheduler under name: each time that a client asks, a fresh snapshot
// (sched.Stats) as JSON. The scheduler is not started for that: without one the value is null. It fails with
// ErrPublished if the name is taken. Safe for concurrent use.
func Publish(name string) error {
	return publish(name, func() any {
		if s := sched.Running(); s != nil {
			return s.Stats()
		}
		return nil
	})
}

// PublishOf is Publish for scheduler s, which it keeps from being collected.
func PublishOf(name string, s *sched.Scheduler) error {
	if s == nil {
		return fmt.Errorf("metrics: publish %q: no scheduler given", name)
	}
	return publish(name, func() any { return s.Stats() })
}

func publish(name string, value expvar.Func) error {
	mu.Lock()
	defer mu.Unlock()
	if name == "" {
		return errors.New("metrics: publish: no name given")
	}
	if expvar.Get(name) != nil {
		return fmt.Errorf("publish %q: %w", name, ErrPublished)
	}
	expvar.Publish(name, value)
	return nil
}
