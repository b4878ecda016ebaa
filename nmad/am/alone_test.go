package am

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// TestGivenUpAlone: the context of a function of the own process ends when its caller gives up, though no thread
// polls, nor does the caller again: also where each message is a rendezvous.
func TestGivenUpAlone(t *testing.T) {
	for _, eager := range []int{0, 1} {
		j := newJobWith(t, 1, nil, Config{}, false, false, eager)
		ended, running := make(chan error, 1), make(chan struct{})
		j.serve("wait", func(ctx context.Context, _ int, _ []byte) ([]byte, error) {
			running <- struct{}{}
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil, nil
		})
		ctx, giveUp := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() {
			_, err := j.worlds[0].Call(ctx, 0, "wait", nil)
			done <- err
		}()
		<-running
		enough := errors.New("enough")
		giveUp(enough)
		if err := <-done; !errors.Is(err, enough) {
			t.Errorf("eager %d: the call ends with %v", eager, err)
		}
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("eager %d: the context of the function ends with %v", eager, err)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("eager %d: the context of the function goes on", eager)
		}
		j.close()
	}
}

// TestParkedMeanwhile: what is parked while the engine posts what was parked before is posted, too, though no thread
// polls.
func TestParkedMeanwhile(t *testing.T) {
	j := newJob(t, 1, nil, Config{}, false)
	defer j.close()
	stop, err := j.engines[0].Enable()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	d := j.worlds[0].Default()
	p, err := d.peer(domainAddress{0, 0}, false)
	if err != nil {
		t.Fatal(err)
	}
	late := &postedReceive{peer: p, op: nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Match{Tag: 1, Mask: ^uint64(0), Context: d.shortContext}, Done: func(*nmad.Request) {}}}
	late.active.Store(true)
	var parked, posted atomic.Bool
	for i := range d.tasks {
		once := false
		d.tasks[i].Init("active messages", func(x *pioman.Task) pioman.Status {
			before := parked.Load()
			s := d.runTask(x)
			if before {
				posted.Store(true)
			}
			if !once {
				once = true
				if i == 0 {
					parked.Store(true) // the engine runs one task at a time
					p.park(late)
				}
			}
			return s
		}, pioman.OneShot)
	}
	d.parked()
	until(t, func() bool { return posted.Load() && late.req.Cancel() })
}
