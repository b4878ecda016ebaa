package marcel_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// compute keeps the CPU for d, and the VP.
func compute(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		computed.Add(1)
	}
}

var computed atomic.Int64

// lockUnlock is the pair, where only its effect on others matters.
func lockUnlock(m *marcel.Mutex) {
	m.Lock()
	computed.Add(1)
	m.Unlock()
}

// shortly calls f with a context that is done after d.
func shortly(d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return f(ctx)
}

// panics fails the test unless f panics with a message that contains text.
func panics(t *testing.T, text string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if x := recover(); x == nil || !strings.Contains(fmt.Sprint(x), text) {
			t.Errorf("panicked with %v, want %q", x, text)
		}
	}()
	f()
}

// stopper ends a context.
type stopper struct {
	context.Context
	stop func()
}

func newStopper() stopper {
	ctx, cancel := context.WithCancel(context.Background())
	return stopper{ctx, cancel}
}
