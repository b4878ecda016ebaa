package stream

import (
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
)

// mark is the low-water mark that the kernel has.
func mark(t *testing.T, l driver.Link) int {
	t.Helper()
	n, err := unix.GetsockoptInt(l.(*link).fd[trackLarge], unix.SOL_SOCKET, unix.SO_RCVLOWAT)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// arrive writes so many bytes and returns when so many are there, unread.
func arrive(t *testing.T, l driver.Link, from *net.TCPConn, bytes, there int) {
	t.Helper()
	if _, err := from.Write(make([]byte, bytes)); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		n, err := unix.IoctlGetInt(l.(*link).fd[trackLarge], unix.TIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		if n == there {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d bytes have arrived, want %d", n, there)
		}
	}
}

// readable waits so many ms for the descriptor.
func readable(t *testing.T, l driver.Link, ms int) bool {
	t.Helper()
	p := []unix.PollFd{{Fd: int32(l.Descriptor()), Events: unix.POLLIN}}
	n, err := unix.Poll(p, ms)
	for err == unix.EINTR {
		n, err = unix.Poll(p, ms)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n == 1
}

func pull(t *testing.T, l driver.Link, buf []byte, want int) {
	t.Helper()
	if n, err := l.PullLarge(buf); n != want || err != nil {
		t.Fatalf("PullLarge: %d, %v, want %d", n, err, want)
	}
}

// TestGather: a sleeper is woken when enough of a long message is there, or its rest; who polls
// gets what there is.
func TestGather(t *testing.T) {
	l, _, large := linkRaw(t)
	buf := make([]byte, 3*testGather)
	if n := mark(t, l); n > 1 { // 0 is 1, too
		t.Fatalf("the mark of a new link is %d", n)
	}
	pull(t, l, buf, 0)
	if n := mark(t, l); n != testGather {
		t.Fatalf("the mark is %d, want %d", n, testGather)
	}
	if !l.Arm(false) {
		t.Fatal("Arm refuses")
	}
	arrive(t, l, large, 1000, 1000)
	if readable(t, l, 0) {
		t.Error("a sleeper is woken for 1000 bytes")
	}
	arrive(t, l, large, testGather-1000, testGather)
	if !readable(t, l, 30_000) {
		t.Error("a sleeper is not woken for as much as it waits for")
	}
	l.Disarm()
	pull(t, l, buf[:2*testGather], testGather)
	arrive(t, l, large, 1000, 1000)
	pull(t, l, buf[:testGather], 1000) // as if the message ended with buf
	if n := mark(t, l); n != testGather-1000 {
		t.Errorf("the mark is %d, but %d bytes are to come", n, testGather-1000)
	}
	arrive(t, l, large, testGather-1000, testGather-1000)
	if !readable(t, l, 30_000) {
		t.Error("a sleeper is not woken for the rest of a message")
	}
	pull(t, l, buf[:testGather-1000], testGather-1000)
	if n := mark(t, l); n != 1 {
		t.Errorf("the mark is %d when nothing is to come", n)
	}
}

// TestGatherAndLost: the end of the connection wakes, whatever is missing.
func TestGatherAndLost(t *testing.T) {
	l, _, large := linkRaw(t)
	pull(t, l, make([]byte, testGather), 0)
	arrive(t, l, large, 10, 10)
	if readable(t, l, 0) {
		t.Error("a sleeper is woken for 10 bytes")
	}
	if err := large.Close(); err != nil {
		t.Fatal(err)
	}
	if !readable(t, l, 30_000) {
		t.Error("a sleeper is not woken by the end")
	}
}

// TestGatherNeverTooMuch: whatever comes and is read in whatever pieces, the mark is never above what is
// still to come.
func TestGatherNeverTooMuch(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var g gathering
		g.init([]int{0, 1, 100, 5000}[rng.IntN(4)])
		for range 10 {
			for rest := 1 + rng.IntN(20000); ; {
				n := max(0, min(rng.IntN(3000)-1000, rest))
				told := g.mark
				rest -= n
				if g.outdated(rest, n == 0) == (g.mark == told) {
					t.Fatalf("seed %d: the kernel is told of the mark %d after %d, or not", seed, g.mark, told)
				}
				if int(g.mark) > max(rest, 1) || g.mark < 1 || int(g.mark) > max(g.most, 1) {
					t.Fatalf("seed %d: %d bytes are to come, the mark is %d, at most %d", seed, rest, g.mark, g.most)
				}
				if rest == 0 {
					break
				}
			}
		}
	}
}
