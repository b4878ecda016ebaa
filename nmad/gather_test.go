package nmad

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/strategy"
	"github.com/pm2-go/pm2/sched"
)

// gathers runs f as a thread of the only VP of a scheduler that rank 0's engine is attached
// to, with two ranks whose gates aggregate.
func gathers(t *testing.T, d driver.Driver, f func(j *job)) {
	j := newJob(t, 2, d, func(c *Config) { c.Strategy = "aggregation" })
	defer j.close()
	s, stop := oneVP(t)
	defer stop()
	detach, err := j.engines[0].Attach(s)
	if err != nil {
		t.Fatal(err)
	}
	defer detach()
	marcel.RunOn(s, func() { f(j) })
}

// oneVP starts a scheduler, and says how it is stopped.
func oneVP(t *testing.T) (s *sched.Scheduler, stop func()) {
	t.Helper()
	s, err := sched.New(sched.Config{VPs: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s, func() {
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// Threads that messages have woken together answer together; and what each of them sends
// arrives in its order, whatever of it was gathered.
func TestGather(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		gathers(t, d, func(j *job) { answerTogether(t, j) })
	})
}

func answerTogether(t *testing.T, j *job) {
	const threads = 16
	here, there := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	sizes := []int{5, 0, 20000, 40, strategy.MaxGatherBytes, strategy.MaxGatherBytes + 1, 7}
	answer := func(k uint64, i, n int) []byte { return pattern(n, k<<8|uint64(i)) }
	for round := 0; ; round++ {
		var all [threads]marcel.Thread
		for k := range all {
			all[k] = marcel.Spawn(func() {
				tag := uint64(k)
				if _, err := here.Recv(tag, nil); err != nil {
					t.Error(err)
					return
				}
				for i, n := range sizes {
					if err := here.Send(tag, answer(tag, i, n)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		marcel.Yield()    // all of them wait
		h := here.enter() // none takes anything in meanwhile
		for tag := range uint64(threads) {
			if there.Isend(tag, nil); t.Failed() {
				break
			}
		}
		h.unlock()
		marcel.Blocking(func() {
			buf := make([]byte, 20000)
			for tag := range uint64(threads) {
				for i, n := range sizes {
					got, err := there.Recv(tag, buf)
					if err != nil || !bytes.Equal(buf[:got], answer(tag, i, n)) {
						t.Errorf("round %d, thread %d: answer %d of %d bytes has %d: %v", round, tag, i, n, got, err)
					}
				}
			}
		})
		for _, k := range all {
			if err := k.Join(); err != nil {
				t.Error(err)
			}
		}
		stats := here.Stats()
		if t.Failed() {
			return
		}
		if stats.Aggregates > 0 { // it depends on which side polls first whether they are woken together
			if stats.Aggregated < 2*stats.Aggregates {
				t.Errorf("%d messages in %d packets", stats.Aggregated, stats.Aggregates)
			}
			break
		}
		if round == 2000 {
			t.Errorf("in %d rounds no answers shared a packet", round)
			return
		}
	}
	h := here.enter()
	defer h.unlock()
	if h.wokenThreads != 0 || h.flow.HasGathered() {
		t.Errorf("when all is done %d threads are about to run, and messages wait: %v", h.wokenThreads, h.flow.HasGathered())
	}
}

// What was gathered leaves although the thread that others are expected to join computes on
// and on.
func TestGatheredLeavesWithoutCompany(t *testing.T) {
	gathers(t, networks()["tcp"], func(j *job) {
		here, there := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		ready := marcel.Spawn(func() {})
		h := here.enter()
		h.wokenThreads++ // as if the gate had woken it
		h.unlock()
		if err := here.Send(1, []byte("alone")); err != nil {
			t.Error(err)
		}
		h = here.enter()
		waits := h.flow.HasGathered()
		h.unlock()
		if !waits {
			t.Error("no message waits for company")
		}
		heard := make(chan error, 1)
		go func() {
			buf := make([]byte, 8)
			n, err := there.Recv(1, buf)
			if err == nil && string(buf[:n]) != "alone" {
				err = fmt.Errorf("%q came", buf[:n])
			}
			heard <- err
		}()
		for began := time.Now(); ; {
			select {
			case err := <-heard:
				if err != nil {
					t.Error(err)
				}
			default:
				if time.Since(began) < time.Minute {
					continue // without a scheduling point
				}
				t.Error("it has not left in a minute")
			}
			break
		}
		h = here.enter()
		h.wokenThreads--
		h.unlock()
		if err := ready.Join(); err != nil {
			t.Error(err)
		}
	})
}

// A thread that never has to wait, because there is always room, or a message, lets others
// run all the same.
func TestTurns(t *testing.T) {
	gathers(t, networks()["shm"], func(j *job) {
		here, there := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		for _, x := range []struct {
			name string
			call func() error
		}{
			{"send", func() error { return here.Send(1, nil) }},
			{"receive", func() error { _, err := here.Recv(2, nil); return err }},
		} {
			var ran bool
			other := marcel.Spawn(func() { ran = true })
			for i := range strategy.Quantum {
				if x.name == "receive" {
					if err := there.Isend(2, nil).Wait(); err != nil { // there is room: it is done at once
						t.Fatal(err)
					}
				}
				if err := x.call(); err != nil {
					t.Fatalf("%s %d: %v", x.name, i, err)
				}
			}
			if !ran {
				t.Errorf("after %d calls of %s the other thread has not run", strategy.Quantum, x.name)
			}
			if err := other.Join(); err != nil {
				t.Error(err)
			}
		}
	})
}
