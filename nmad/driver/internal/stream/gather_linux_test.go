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
	if n, err := l.Pull(buf); n != want || err != nil {
		t.Fatalf("Pull: %d, %v, want %d", n, err, want)
	}
}

// testMark fails unless the mark is as it should be.
func testMark(t *testing.T, l driver.Link, want int) {
	t.Helper()
	if n := max(mark(t, l), 1); n != want { // 0 is 1, too
		t.Errorf("the mark is %d, want %d", n, want)
	}
}

func arm(t *testing.T, l driver.Link) {
	t.Helper()
	if !l.Arm(false) {
		t.Fatal("Arm refuses")
	}
}

// TestGather: a sleeper is woken when enough of a long message is there, or its rest; one that polls
// gets what there is, and the kernel is not told to wait for more.
func TestGather(t *testing.T) {
	l, _, large := linkRaw(t)
	buf := make([]byte, 3*testWakeBytes)
	testMark(t, l, 1)
	arm(t, l)
	testMark(t, l, 1) // nothing is to come yet
	l.Disarm()
	pull(t, l, buf, 0)
	testMark(t, l, 1)
	arm(t, l)
	testMark(t, l, testWakeBytes)
	arrive(t, l, large, 1000, 1000)
	if readable(t, l, 0) {
		t.Error("a sleeper is woken for 1000 bytes")
	}
	arrive(t, l, large, testWakeBytes-1000, testWakeBytes)
	if !readable(t, l, 30_000) {
		t.Error("a sleeper is not woken for as much as it waits for")
	}
	l.Disarm()
	testMark(t, l, 1)
	pull(t, l, buf[:2*testWakeBytes], testWakeBytes)
	arm(t, l)
	testMark(t, l, testWakeBytes)
	arrive(t, l, large, 1000, 1000)
	pull(t, l, buf[:testWakeBytes], 1000) // by another thread, and as if the message ended with buf
	testMark(t, l, 1)
	arm(t, l) // as a sleeper for room, too
	testMark(t, l, testWakeBytes-1000)
	arrive(t, l, large, testWakeBytes-1000, testWakeBytes-1000)
	if !readable(t, l, 30_000) {
		t.Error("a sleeper is not woken for the rest of a message")
	}
	pull(t, l, buf[:testWakeBytes-1000], testWakeBytes-1000)
	testMark(t, l, 1)
	arm(t, l)
	testMark(t, l, 1) // nothing is to come any more
	l.Disarm()
}

// TestGatherAndLost: the end of the connection wakes, whatever is missing.
func TestGatherAndLost(t *testing.T) {
	l, _, large := linkRaw(t)
	pull(t, l, make([]byte, testWakeBytes), 0)
	arm(t, l)
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

// TestGatherNeverTooMuch: the one that arms and disarms beside one that reads, once both have returned the mark is not
// above what is still to come.
func TestGatherNeverTooMuch(t *testing.T) {
	l, _, large := linkRaw(t)
	buf := make([]byte, 2*testWakeBytes)
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for i := range rounds {
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		rest := 1 + rng.IntN(len(buf))
		pull(t, l, buf[:rest], 0)
		n := 1 + rng.IntN(rest)
		arrive(t, l, large, n, n)
		armed := make(chan struct{})
		go func() {
			defer close(armed)
			for range rng.IntN(3) {
				l.Arm(false)
				l.Disarm()
			}
			l.Arm(false)
		}()
		pull(t, l, buf[:rest], n)
		<-armed
		if m, want := mark(t, l), max(min(rest-n, testWakeBytes), 1); m > want {
			t.Fatalf("round %d: %d bytes are to come, the mark is %d", i, rest-n, m)
		}
		l.Disarm()
		testMark(t, l, 1)
	}
}
