package nmad

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
)

// A thread that is cancelled while it waits for a message gets it, and ends at its next cancellation point.
func TestWaitsAreNoCancellationPoints(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.close()
		s, end := oneVP(t)
		defer end()
		here, there := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		q := j.sessions[0].NewQueue()
		for name, wait := range map[string]func(buf []byte) error{
			"Wait":        func(buf []byte) error { return here.Irecv(1, buf).Wait() },
			"WaitContext": func(buf []byte) error { return here.Irecv(1, buf).WaitContext(ctx) },
			"WaitAll":     func(buf []byte) error { return WaitAll(ctx, here.Irecv(1, buf)) },
			"WaitAny": func(buf []byte) error {
				_, err := WaitAny(context.Background(), nil, here.Irecv(1, buf))
				return err
			},
			"Probe": func(buf []byte) error {
				if _, err := here.Probe(ctx, Tag(1)); err != nil {
					return err
				}
				return here.Irecv(1, buf).Wait()
			},
			"Queue.Wait": func(buf []byte) error {
				var r Request
				here.Post(&r, &Op{Kind: OpRecv, Match: Tag(1), Buf: buf, Queue: q})
				_, err := q.Wait(ctx)
				return err
			},
		} {
			t.Run(name, func(t *testing.T) {
				for i := range effort.Of(10) {
					waits, got := make(chan struct{}), 0
					x := s.Spawn(marcel.Attr{}, func() {
						buf := make([]byte, 3)
						close(waits)
						if err := wait(buf); err != nil {
							t.Error(err)
						}
						got = int(buf[0])
						marcel.TestCancel()
						t.Error("it was not cancelled")
					})
					<-waits
					if i%2 == 0 {
						time.Sleep(time.Millisecond) // asleep, as a rule
					}
					if err := errors.Join(x.Cancel(), there.Send(1, []byte{7, 8, 9})); err != nil {
						t.Fatal(err)
					}
					if err := x.Join(); !errors.Is(err, marcel.ErrCanceled) || got != 7 {
						t.Fatalf("got %d, Join: %v", got, err)
					}
				}
			})
		}
	})
}
