package pioman

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// errNoVP says that a processor cannot be dedicated.
var errNoVP = errors.New("it cannot be spared")

// dedicated is an OS thread on the CPU of a virtual processor that runs no threads: it does
// nothing but poll, all the time while requests are pending, and sleeps while none
// are. No other processor polls at its hooks then, and none blocks in the kernel. (TBD09
// measures what that costs the computation.)
type dedicated struct {
	a     *attachment
	vp    int
	over  atomic.Bool
	g     atomic.Uintptr // asm.G of its goroutine
	rests atomic.Uint32  // 1: it sleeps on rung, or is about to; who posts writes 0 and rings
	rung  chan struct{}  // holds one
	ended chan struct{}
	polls atomic.Uintptr
	finds atomic.Uintptr
}

// spareable is what the policy asks of a scheduler that is to give a processor away.
type spareable interface {
	DisableVP(vp int) error
	EnableVP(vp int) error
	BindTo(vp int) (free func(), err error)
}

// dedicate takes the processor from the scheduler. ErrParameter: it has no such one, or
// no other.
func (a *attachment) dedicate(vp int) error {
	row := &table[rowOf("dedicated")]
	text, by := a.e.params.Get(row.Name)
	s, ok := a.s.(spareable)
	if !ok {
		return fmt.Errorf("%w: the scheduler cannot take a VP out of use", row.wrong(by, text))
	}
	if vp >= a.s.NumVP() {
		return fmt.Errorf("%w: the scheduler has VPs 0 to %d", row.wrong(by, text), a.s.NumVP()-1)
	}
	if err := s.DisableVP(vp); err != nil {
		return fmt.Errorf("%w: %w: %w", row.wrong(by, text), errNoVP, err)
	}
	d := &dedicated{a: a, vp: vp, rung: make(chan struct{}, 1), ended: make(chan struct{})}
	a.dedicated = d
	go d.main(s)
	return nil
}

// main is the life of the thread. It exits locked: whatever was set on the OS thread goes
// with it.
func (d *dedicated) main(s spareable) {
	runtime.LockOSThread()
	d.g.Store(asm.G())
	defer func() {
		if !d.over.Load() { // a handler has ended the goroutine
			go d.main(s)
			return
		}
		d.g.Store(0)
		_ = s.EnableVP(d.vp) // it exists
		close(d.ended)
	}()
	free, err := s.BindTo(d.vp)
	if err == nil {
		defer free()
	}
	e := d.a.e
	for i := 0; !d.over.Load(); i++ {
		if e.load.view().pending() == 0 {
			d.rest()
			continue
		}
		bump(&d.polls)
		switch out := e.poll(-1); {
		case out == moved:
			bump(&d.finds)
		case e.shared():
			e.settle(-1)
			yieldCPU()
		default:
			e.settle(-1)
			if out < polled {
				relax(0, true)
			}
		}
	}
}

// rest sleeps until somebody posts: first the mark, then the look.
func (d *dedicated) rest() {
	d.rests.Store(1)
	if d.a.e.load.view().pending() == 0 && !d.over.Load() {
		<-d.rung
	}
	d.rests.Store(0)
}

// rouse ends a rest. One load if there is none.
func (d *dedicated) rouse() {
	if d.rests.Load() != 0 && d.rests.CompareAndSwap(1, 0) {
		select {
		case d.rung <- struct{}{}:
		default:
		}
	}
}

// stop ends the thread, which gives the processor back, and waits for its end, unless a
// handler that it runs is the caller.
func (d *dedicated) stop() {
	d.over.Store(true)
	for i := 0; d.g.Load() != asm.G(); i++ {
		select {
		case <-d.ended:
			return
		default:
			select {
			case d.rung <- struct{}{}:
			default:
			}
			relax(i, true)
		}
	}
}
