package nmad_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// idle is one of two processes of which rank 0 waits for rank 1, which sleeps.
// Rank 0 says how much processor time it used meanwhile.
func idle() error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	g := s.Gate(1 - s.Rank())
	if s.Rank() == 1 {
		marcel.Sleep(1500 * time.Millisecond)
		if err := g.Send(1, []byte{1}); err != nil {
			return err
		}
		return s.Close()
	}
	posted := g.Irecv(2, make([]byte, 1)) // never comes: a receive that only is pending
	pause := 200 * time.Millisecond
	marcel.Sleep(pause) // so that what polls has calmed down
	began, before := time.Now(), used()
	if _, err := g.Recv(1, make([]byte, 1)); err != nil {
		return err
	}
	fmt.Println("permille", 1000*(used()-before)/time.Since(began))
	if over, err := posted.Test(); over && err == nil {
		return fmt.Errorf("a message came that was not sent")
	}
	return s.Close()
}

// used is the processor time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestIdleCostsNothing makes sure that waiting for long is done in the kernel. It
// looks at processor time, not at the clock, so a busy machine does no harm.
func TestIdleCostsNothing(t *testing.T) {
	t.Parallel()
	for _, d := range []string{"shm", "tcp"} {
		for _, engine := range waysOver(d, effort.Long()) {
			t.Run(d+"/"+engine, func(t *testing.T) {
				t.Parallel() // idle processes do not disturb each other
				r := newReports()
				j, err := launch.Start(launch.Spec{
					N: 2, Driver: d, Stdout: r.of, Env: []string{modeVariable + "=" + engine + " idle"},
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := j.Wait(); err != nil {
					t.Fatal(err)
				}
				n, permille := r.count("permille")
				if n != 1 {
					t.Fatal("rank 0 did not report")
				}
				t.Logf("%d per mille of a processor", permille)
				if permille > 50 {
					t.Errorf("waiting took %d per mille of a processor, want next to nothing", permille)
				}
			})
		}
	}
}
