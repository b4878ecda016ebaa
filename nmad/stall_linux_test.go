package nmad_test

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// stalling waits for a message that does not come, in a circle: the last rank computes first, and says when it has.
func stalling(compute time.Duration) error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	me, n := s.Rank(), s.Size()
	before, behind := s.Gate((me+n-1)%n), s.Gate((me+1)%n)
	if err := behind.Send(uint64(100+me), []byte{1}); err != nil {
		return err
	}
	if me == n-1 {
		for began := time.Now(); time.Since(began) < compute; {
		}
		fmt.Println("computed", 1)
	}
	_, err = before.Recv(uint64(me), make([]byte, 1))
	return fmt.Errorf("rank %d received: %w", me, err)
}

// texts is what each rank writes to standard error.
type texts struct {
	mu sync.Mutex
	of [8]strings.Builder
}

type writer func([]byte) (int, error)

func (wr writer) Write(b []byte) (int, error) { return wr(b) }

func (tx *texts) writer(rank int) io.Writer {
	return writer(func(b []byte) (int, error) {
		tx.mu.Lock()
		defer tx.mu.Unlock()
		return tx.of[max(rank, 0)].Write(b)
	})
}

func (tx *texts) rank(i int) string {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return tx.of[i].String()
}

// TestStall: a job whose processes all wait says so, once, for what, and not while one of them computes. At SIGQUIT a
// process says for what it waits, before the stacks of its goroutines.
func TestStall(t *testing.T) {
	t.Parallel()
	for _, way := range waysOver("tcp", false) {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			const n = 3
			r, x := newReports(), &texts{}
			j, err := launch.Start(launch.Spec{
				N: n, Stdout: r.of, Stderr: x.writer, Env: []string{modeVariable + "=" + way + " stall 1500", nmad.EnvStall + "=400ms"},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Wait()
			defer j.Kill()
			const report = "pm2: for 400ms no process of this job has computed"
			for !strings.Contains(x.rank(0), report) || strings.Count(x.rank(0), "receive from rank") < n {
				select {
				case <-j.Done():
					t.Fatalf("the job has ended: %s", x.rank(0))
				case <-time.After(5 * time.Millisecond):
				}
			}
			if computed, _ := r.count("computed"); computed != 1 {
				t.Errorf("a report while the last rank computes: %s", x.rank(0))
			}
			time.Sleep(time.Second) // for a second report
			text := x.rank(0)
			for me := range n {
				waits := fmt.Sprintf("rank %d:\n(  .*\n)*  (goroutine|thread [0-9]+) .*waits .*: receive from rank %d, tag %d\n", me, (me+n-1)%n, me)
				kept := fmt.Sprintf("  came from rank %d, and no receive is for it: tag %d, 1 bytes\n", (me+n-1)%n, 100+(me+n-1)%n)
				if !regexp.MustCompile(waits).MatchString(text) || !strings.Contains(text, kept) {
					t.Errorf("rank %d is missing in %s", me, text)
				}
			}
			if got := strings.Count(text, report); got != 1 {
				t.Errorf("%d reports: %s", got, text)
			}
			const me = 1 // alone: a process that has lost its peer does not wait any more
			if err := syscall.Kill(j.PID(me), syscall.SIGQUIT); err != nil {
				t.Fatal(err)
			}
			_ = j.Wait() // fails: a process was ended
			text = x.rank(me)
			title := strings.Index(text, fmt.Sprintf("pm2: SIGQUIT: rank %d of %d, pid %d: ", me, n, j.PID(me)))
			waits := strings.LastIndex(text, fmt.Sprintf(": receive from rank %d, tag %d\n", me-1, me))
			stacks := strings.Index(text, "SIGQUIT: quit")
			if title < 0 || waits < title || stacks < waits {
				t.Errorf("title at %d, wait at %d, stacks at %d: %s", title, waits, stacks, text)
			}
		})
	}
}
