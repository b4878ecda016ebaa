package sched

import (
	"errors"
	"sync"
	"sync/atomic"
)

// The default scheduler.
var (
	defMu  sync.Mutex
	def    atomic.Pointer[Scheduler]
	defCfg Config

	onDefault func(*Scheduler) // nil, or what OnDefault was given
)

// OnDefault has f called with each default scheduler that starts, before its first thread. f must neither block for long nor
// call Default. For the init of package marcel/view, which then reads what the user of the program wants to see.
func OnDefault(f func(*Scheduler)) { onDefault = f }

// Default returns the scheduler that package-level functions use. It starts
// when it is first needed, also again after it was stopped. It panics if it
// cannot start, which only a wrong Configure can bring about.
func Default() *Scheduler {
	if s := def.Load(); s != nil && !s.stopping.Load() {
		return s
	}
	defMu.Lock()
	defer defMu.Unlock()
	if s := def.Load(); s != nil && !s.stopping.Load() {
		return s
	}
	s, err := New(defCfg)
	if err != nil {
		panic(err)
	}
	def.Store(s)
	if onDefault != nil {
		onDefault(s)
	}
	return s
}

// Running returns the default scheduler if it runs; else nil, without starting it.
func Running() *Scheduler {
	if s := def.Load(); s != nil && !s.stopping.Load() {
		return s
	}
	return nil
}

// Configure sets how the default scheduler will start. It is an error if that
// runs already, or if cfg is one that New refuses.
func Configure(cfg Config) error {
	trial := cfg
	if err := trial.complete(); err != nil {
		return err
	}
	defMu.Lock()
	defer defMu.Unlock()
	if s := def.Load(); s != nil && !s.stopping.Load() {
		return errors.New("sched: the default scheduler runs already: configure it before its first use")
	}
	defCfg = cfg
	return nil
}
