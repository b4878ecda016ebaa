package nmad

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/sched"
)

// Select waits for the first of several receives and something else, over each
// network, with hooks and without; nothing is allocated for a request's case.
func TestSelectRequests(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.close()
		s, err := sched.New(sched.Config{VPs: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		for _, hooked := range []bool{false, true} {
			stop := func() {}
			if hooked {
				if stop, err = j.engines[0].Attach(s); err != nil {
					t.Fatal(err)
				}
			}
			marcel.RunOn(s, func() { selectRequests(t, j) })
			stop()
		}
	})
}

func selectRequests(t *testing.T, j *job) {
	here, there := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	const n = 3
	var in [n]*Request
	var cases [n + 2]marcel.Case
	var bufs [n][]byte
	var never marcel.Semaphore
	cases[n], cases[n+1] = never.Case(), marcel.After(time.Minute)
	for i := range in {
		bufs[i] = make([]byte, 5000)
		in[i] = here.Irecv(uint64(i), bufs[i])
		cases[i] = in[i].Case()
	}
	if i := marcel.SelectTimeout(2*time.Millisecond, cases[:]...); i != -1 {
		t.Errorf("took %d before anything was sent", i)
	}
	for _, i := range []int{1, 2, 0} {
		msg := pattern([]int{10, 5000, 300}[i], uint64(i))
		sent := make(chan error, 1)
		go func() {
			time.Sleep(200 * time.Microsecond)
			sent <- there.Send(uint64(i), msg)
		}()
		if got := marcel.Select(cases[:]...); got != i {
			t.Errorf("took %d, sent %d", got, i)
		}
		if done, err := in[i].Test(); !done || err != nil || !bytes.Equal(bufs[i][:in[i].Len()], msg) {
			t.Errorf("message %d: done %v, %v, %d bytes", i, done, err, in[i].Len())
		}
		var err error
		marcel.Blocking(func() { err = <-sent })
		if err != nil {
			t.Error(err)
		}
		cases[i] = nil
	}
	var idle Request
	if i := marcel.Select(idle.Case()); i != 0 || !errors.Is(idle.Wait(), ErrIdle) {
		t.Errorf("a request that was not started: took %d, %v", i, idle.Wait())
	}
}
