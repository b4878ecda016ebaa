package nmad

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/tasklet"
)

// TestOffload: sends that other cores submit arrive, in their order, alone and in bursts, beside sends that block; an idle
// processor that is awake is given some of them, and a tasklet leaves its caller's call before the message is submitted.
// What is left at the end of the domain ends.
func TestOffload(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		s, err := sched.New(sched.Config{VPs: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		awake, err := s.Hooks().Register(hooks.Idle, 90, "awake", func(int) hooks.Verdict { return hooks.Busy })
		if err != nil {
			t.Fatal(err)
		}
		defer awake.Unregister()
		v, err := tasklet.Attach(s)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Detach()
		e := pioman.New(pioman.Config{})
		defer e.Close()
		stop, err := e.Attach(s)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		j := newJob(t, 2, d, func(c *Config) { c.Engine = e })
		defer j.close()
		for i, kind := range []DomainConfig{{Offload: OffloadIdle}, {Offload: OffloadTasklet, Tasklets: v}, {Access: Fine, Offload: OffloadIdle}} {
			all := j.domain(DomainConfig{}, 1+i)
			if err := all[0].Close(); err != nil {
				t.Fatal(err)
			}
			kind.Number = 100 + i
			from, err := j.sessions[0].Domain(kind)
			if err != nil {
				t.Fatal(err)
			}
			g, back := from.To(1, 1+i), all[1].To(0, 100+i)
			marcel.RunOn(s, func() {
				// Whether the other processor is idle as the sender looks is the scheduler's doing: a short test goes on
				// until it once was.
				given := func() bool { return kind.Offload != OffloadIdle || from.Stats().Offloaded > 0 }
				left := 0
				for n, end := effort.Of(30), time.Now().Add(10*time.Second); n > 0 || !given() && time.Now().Before(end); n-- {
					pass(t, kind.Offload.String(), g, back, 0, 8, 700, 70_000)
					const burst = 10
					var sent []*Request
					for n := range byte(burst) {
						sent = append(sent, g.Isend(1, []byte{n}))
						if g.inbox.incoming.Load() != nil {
							left++
						}
					}
					if err := g.Send(1, []byte{burst}); err != nil {
						t.Fatal(err)
					}
					for n := range byte(burst + 1) {
						var b [1]byte
						if _, err := back.Recv(1, b[:]); err != nil || b[0] != n {
							t.Fatalf("%v: message %d is %d, %v", kind.Offload, n, b[0], err)
						}
					}
					if err := WaitAll(t.Context(), sent...); err != nil {
						t.Fatal(err)
					}
				}
				if left == 0 {
					t.Errorf("%v: no send was left to another core", kind.Offload)
				}
			})
			if n := from.Stats().Offloaded; n == 0 && kind.Offload == OffloadIdle {
				t.Errorf("%v: no submission was given to the idle processor", kind.Offload)
			}
			r := g.Isend(2, make([]byte, 300_000)) // without a receive
			j.sessions[0].cfg.Linger = time.Millisecond
			_ = from.Close() // which tells of r
			if err := r.Wait(); err != nil && !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		}
		for _, c := range []DomainConfig{
			{Offload: OffloadTasklet + 1}, {Offload: OffloadTasklet}, {Tasklets: v}, {Offload: OffloadIdle, Tasklets: v}, {Offload: OffloadIdle, Progress: Explicit},
			{Offload: OffloadIdle, Progress: Worker}, {Offload: OffloadIdle, Access: Private},
		} {
			if _, err := j.sessions[0].Domain(c); !errors.Is(err, ErrConfig) {
				t.Errorf("%+v: %v, want ErrConfig", c, err)
			}
		}
	})
}
