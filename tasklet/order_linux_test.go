package tasklet

import (
	"sync"
	"testing"

	"github.com/pm2-go/pm2/hooks"
	"golang.org/x/sys/unix"
)

// A run sees what every Schedule before it wrote, also the one that found the
// tasklet scheduled already. The two goroutines are kept in order by a pipe that
// is used behind the race detector's back, so that the tasklet's word is the only
// thing that can order the plain variable: without the write in Schedule, go test -race
// reports it.
func TestTheRunSeesWhatASecondSchedulerWrote(t *testing.T) {
	m, v := newManual(t, 1)
	for range 100 {
		var pipe [2]int
		if err := unix.Pipe(pipe[:]); err != nil {
			t.Fatal(err)
		}
		written, seen := 0, 0
		tk := New(v, func() { seen = written })
		if !tk.Schedule() {
			t.Fatal("the first one schedules it")
		}
		var both sync.WaitGroup
		both.Add(2)
		go func() {
			defer both.Done()
			written = 42
			if tk.Schedule() {
				t.Error("it was scheduled already")
			}
			rawWrite(pipe[1])
		}()
		go func() {
			defer both.Done()
			rawRead(pipe[0])
			m.set.Fire(hooks.Idle, 0)
		}()
		both.Wait()
		if seen != 42 {
			t.Fatalf("the run saw %d", seen)
		}
		for _, fd := range pipe {
			if err := unix.Close(fd); err != nil {
				t.Error(err)
			}
		}
	}
}
