package bootstrap

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStoppedWithoutRankZero: also when rank 0 has left, a process that is stopped for longer than the silence that is allowed is lost, and
// one that is stopped for a moment is not.
func TestStoppedWithoutRankZero(t *testing.T) {
	const silence = time.Second
	p := newParty(t, 3)
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Skip("no child process to watch: ", err)
	}
	defer child.Process.Kill()
	all, errs := p.start(func(rank int, c *Config) {
		c.Silence = silence
		if rank == 2 {
			c.Card.PID, c.Card.Born = child.Process.Pid, Born(child.Process.Pid)
		}
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	defer leave(all)
	p.ready(all)
	all[0].Leave()
	p.await(1, 1)
	stop(child.Process, silence/2)
	time.Sleep(2 * silence)
	p.mu.Lock()
	if n := len(p.events[1]); n != 1 {
		t.Errorf("rank 1 heard %+v", p.events[1])
	}
	p.mu.Unlock()
	stop(child.Process, 0)
	began := time.Now()
	if e := p.await(1, 2); e[1].Rank != 2 || e[1].Kind != Died || !strings.Contains(e[1].Reason, "stopped") {
		t.Errorf("rank 1 heard %+v, want that rank 2 is stopped", e)
	}
	if took := time.Since(began); took < silence {
		t.Errorf("noticed after %v already", took)
	}
}

// stop stops a process, for that long; 0: for good.
func stop(p *os.Process, d time.Duration) {
	_ = p.Signal(syscall.SIGSTOP)
	if d > 0 {
		time.Sleep(d)
		_ = p.Signal(syscall.SIGCONT)
	}
}
