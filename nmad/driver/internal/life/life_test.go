package life

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/pm2-go/pm2/nmad/driver"
)

func TestCountsShareNoLines(t *testing.T) {
	if n := unsafe.Sizeof(callCount{}); n != 128 {
		t.Errorf("a count has %d bytes, want 128", n)
	}
}

// closeLink is what a driver's Close does, and says whether it was the first.
func closeLink(l *Life) bool {
	first := l.End()
	if first {
		l.Drain()
	}
	return first
}

func TestLastOneOutFrees(t *testing.T) {
	freed := 0
	var l Life
	l.Init("test", 3, func() { freed++ })
	if l.Begin(Send) != nil || !l.Enter(Recv) || !l.Enter(Recv) {
		t.Fatal("an open link turned a caller away")
	}
	if !closeLink(&l) || closeLink(&l) {
		t.Error("one of two calls is the first")
	}
	if l.Enter(Send) || l.Enter(Arm) || !errors.Is(l.Begin(Push), driver.ErrClosed) {
		t.Error("a closed link let a caller in")
	}
	l.Leave(Send)
	l.Leave(Recv)
	if freed != 0 {
		t.Fatal("freed while a caller is inside")
	}
	l.Leave(Recv)
	if freed != 1 {
		t.Fatalf("freed %d times after the last one left", freed)
	}
	if l.Enter(Recv) || freed != 1 {
		t.Errorf("a drained link let a caller in, or was freed %d times", freed)
	}
}

func TestCloseAgainstEnter(t *testing.T) {
	for range 2000 {
		var alive atomic.Bool
		var freed, bad atomic.Int32
		alive.Store(true)
		var l Life
		l.Init("test", 0, func() { alive.Store(false); freed.Add(1) })
		var wg sync.WaitGroup
		for as := range callers {
			wg.Go(func() {
				for l.Enter(as) {
					if !alive.Load() {
						bad.Add(1)
					}
					l.Leave(as)
				}
			})
		}
		closeLink(&l)
		wg.Wait()
		if bad.Load() != 0 || freed.Load() != 1 {
			t.Fatalf("%d calls ran on what was freed, freed %d times", bad.Load(), freed.Load())
		}
	}
}

// TestEnds: the first end gives the error of all later calls, until this side closes the link.
func TestEnds(t *testing.T) {
	cut := errors.New("cut")
	for name, c := range map[string]struct {
		end   func(*Life) error
		state uint32
		is    error
		text  string
	}{
		"broken":             {func(l *Life) error { return l.Break(driver.ErrProtocol) }, Broken, driver.ErrProtocol, "test: link to rank 3: "},
		"lost":               {func(l *Life) error { return l.Lose(nil) }, Lost, driver.ErrPeerLost, "its process ended or closed the link"},
		"lost for a reason":  {func(l *Life) error { return l.Lose(cut) }, Lost, cut, "peer lost"},
		"broken, and lost":   {func(l *Life) error { _ = l.Break(driver.ErrProtocol); return l.Lose(nil) }, Broken | Lost, driver.ErrProtocol, ""},
		"closed, and broken": {func(l *Life) error { l.End(); return l.Break(driver.ErrProtocol) }, Closed, driver.ErrClosed, ""},
		"closed, and lost":   {func(l *Life) error { l.End(); return l.Lose(cut) }, Closed | Lost, driver.ErrClosed, ""},
	} {
		var l Life
		l.Init("test", 3, func() {})
		err := c.end(&l)
		if s := l.State.Load(); s != c.state || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: state %d, %v", name, s, err)
		}
		if later := l.Begin(Send); !errors.Is(later, c.is) {
			t.Errorf("%s: a later call fails with %v", name, later)
		}
	}
}
