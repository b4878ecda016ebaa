package sched

import (
	"bytes"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/asm"
)

// TestGoKnowsOfYields: after a long turn Go sees a thread that has given its CPU away in a system call, so that the collector takes its P
// instead of waiting until the kernel runs it again.
func TestGoKnowsOfYields(t *testing.T) {
	if !isDirect {
		t.Skip("the portable mode gives way by the Go scheduler")
	}
	before := tellGoUntil.Load()
	defer func() { tellGoUntil.Store(before) }()
	now := asm.Cycles()
	tellGoUntil.Store(0)
	if noteTurn(now, asm.ToCycles(longTurn/2)); tellGoUntil.Load() != 0 {
		t.Error("a short turn counts as a long one")
	}
	if noteTurn(now, asm.ToCycles(10*time.Second.Nanoseconds())); tellGoUntil.Load() < now+asm.ToCycles(time.Minute.Nanoseconds()) {
		t.Error("a turn of 10 s is not heeded for a minute")
	}
	for name, give := range map[string]func(){"giveWay": giveWay, "osNap": osNap} {
		t.Run(name, func(t *testing.T) {
			var stop atomic.Bool
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				for !stop.Load() {
					give()
				}
			}()
			defer func() { stop.Store(true); <-gone }()
			buf := make([]byte, 1<<20)
			for end := time.Now().Add(20 * time.Second); ; {
				for block := range bytes.SplitSeq(buf[:runtime.Stack(buf, true)], []byte("\n\n")) {
					head, rest, _ := bytes.Cut(block, []byte("\n"))
					if bytes.Contains(rest, []byte("sched."+name)) && bytes.Contains(head, []byte("[syscall")) {
						return
					}
				}
				if time.Now().After(end) {
					t.Fatal("never seen in a system call")
				}
			}
		})
	}
}
