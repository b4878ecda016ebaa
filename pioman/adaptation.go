package pioman

import "github.com/pm2-go/pm2/sched"

// adaptation says for how long an idle processor polls before it blocks in the kernel: to be woken is taken to be worth the
// BlockingDelay of polling. What arrives while all processors compute is found by hooks or by the progressor; the same
// estimator decides which (crowded).
type adaptation struct {
	est   sched.Estimator
	delay int64 // cycles
	_     [line - 16]byte
}

// window is in cycles.
func (p *adaptation) window() int64 { return p.est.Window(p.delay) }

// arrived takes the wait, in cycles, that has just ended: since things went quiet, or since
// the processor became idle.
func (p *adaptation) arrived(wait int64) { p.est.Took(wait, p.delay) }

// crowded tells whether arrivals follow each other so closely, within a sixteenth of the delay, that hooks had better poll
// for them than be woken for each.
func (p *adaptation) crowded() bool { return p.est.Soon() }
