package sched_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// expiredTimer tells what it was told.
type expiredTimer struct {
	rung    chan uint32
	dropped chan uint32
}

func newBell() expiredTimer { return expiredTimer{make(chan uint32, 10), make(chan uint32, 10)} }

func (bl expiredTimer) Ring(round uint32) { bl.rung <- round }
func (bl expiredTimer) Drop(round uint32) { bl.dropped <- round }

// An alarm tells once per start, with the number of the start, unless it is stopped;
// pending ones are dropped with their scheduler, and cannot be started on it again.
func TestAlarm(t *testing.T) {
	s, err := sched.New(sched.Config{VPs: 2})
	if err != nil {
		t.Fatal(err)
	}
	var mu sched.Spin
	var a, b sched.Alarm
	bell := newBell()
	start := func(a *sched.Alarm, d time.Duration) bool {
		mu.Lock()
		defer mu.Unlock()
		return a.Start(nil, s, d, bell)
	}
	stopped := func(a *sched.Alarm) bool {
		mu.Lock()
		defer mu.Unlock()
		return a.Stop()
	}
	if stopped(&a) || a.ForFunc() {
		t.Error("the zero Alarm is not pending")
	}
	for round := uint32(1); round <= 3; round++ {
		begin := time.Now()
		if !start(&a, time.Millisecond) || a.Round() != round {
			t.Fatal("not started")
		}
		if got := <-bell.rung; got != round || time.Since(begin) < time.Millisecond || stopped(&a) {
			t.Errorf("rang for start %d after %v", got, time.Since(begin))
		}
	}
	if start(&a, time.Hour); !stopped(&a) || stopped(&a) {
		t.Error("it is pending, and can be stopped once")
	}
	start(&a, 100*time.Hour)
	b.StartFunc(nil, s, time.Hour, func() { t.Error("an hour is over") })
	if err := s.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if got := <-bell.dropped; got != 5 || stopped(&a) || stopped(&b) || !b.ForFunc() {
		t.Errorf("start %d was dropped", got)
	}
	if start(&a, time.Microsecond) || b.Restart(nil, s, time.Microsecond) || stopped(&a) || stopped(&b) {
		t.Error("started on a scheduler that has ended")
	}
	if len(bell.rung)+len(bell.dropped) > 0 {
		t.Error("told again")
	}
}

// egg is the smallest timer: it tells when it is over.
type egg struct {
	mu    sched.Spin
	alarm sched.Alarm
	done  chan bool
}

func (e *egg) Ring(uint32) { e.done <- true }
func (e *egg) Drop(uint32) { e.done <- false }

func (e *egg) boil(d time.Duration) {
	s := sched.Current() // before anything is locked
	c := sched.Visit()
	e.mu.Lock()
	e.alarm.Start(c, s, d, e)
	e.mu.Unlock()
	c.Leave()
}

func ExampleAlarm() {
	e := egg{done: make(chan bool, 1)}
	e.boil(5 * time.Millisecond)
	fmt.Println("done:", <-e.done)
	// Output: done: true
}
