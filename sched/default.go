package sched

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/internal/setting"
)

// envVPs is the environment variable with the number of virtual processors of the default scheduler. If it is not empty
// it overrides Configure.
const envVPs = "PM2_VPS"

// The default scheduler.
var (
	defMu  sync.Mutex
	def    atomic.Pointer[Scheduler]
	defCfg Config

	onDefault []func(*Scheduler) // what OnDefault was given; under defMu
)

// OnDefault has f called with each default scheduler that starts from now on, before its first thread. f must neither
// block for long nor call Default. Package marcel/view uses it to trace and serve the scheduler as the environment
// asks, and an enabled engine of pioman to attach itself.
func OnDefault(f func(*Scheduler)) {
	defMu.Lock()
	defer defMu.Unlock()
	onDefault = append(onDefault, f)
}

// Default returns the scheduler that package-level functions use. The first call starts it, and so does the first call
// after it was stopped. Default panics if the scheduler cannot start.
func Default() *Scheduler {
	if s := Running(); s != nil {
		return s
	}
	defMu.Lock()
	defer defMu.Unlock()
	if s := Running(); s != nil {
		return s
	}
	cfg := defCfg
	vps, err := setting.Read(envVPs, os.Getenv(envVPs), setting.Count)
	if vps > 0 {
		cfg.VPs = vps
	}
	var s *Scheduler
	if err == nil {
		s, err = New(cfg)
	}
	if err != nil {
		panic(err)
	}
	def.Store(s)
	for _, f := range onDefault {
		f(s)
	}
	return s
}

// Running returns the default scheduler; nil if it has not started, or has been stopped. It does not start it.
func Running() *Scheduler {
	if s := def.Load(); s != nil && !s.stopping.Load() {
		return s
	}
	return nil
}

// Configure sets the configuration with which the default scheduler will start. It returns an error if the default
// scheduler runs already, or if New would refuse cfg.
func Configure(cfg Config) error {
	trial := cfg
	if err := trial.complete(); err != nil {
		return err
	}
	defMu.Lock()
	defer defMu.Unlock()
	if Running() != nil {
		return errors.New("sched: the default scheduler runs already: configure it before its first use")
	}
	defCfg = cfg
	return nil
}
