package pingpong

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/cmd/demo/internal/pattern"
)

// network is two wires that copy messages through channels, one per tag, and
// lets a test tamper with them.
type network struct {
	mu     sync.Mutex
	queues map[string]chan []byte
	tamper func(from int, tag uint64, n int, msg []byte) []byte // n: how many of that tag came before
	count  map[string]int
	closed chan struct{}
	once   sync.Once
}

func (n *network) cut() { n.once.Do(func() { close(n.closed) }) }

func newNetwork() *network {
	return &network{queues: map[string]chan []byte{}, count: map[string]int{}, closed: make(chan struct{})}
}

var errCut = errors.New("the wire was cut")

func (n *network) queue(from int, tag uint64) chan []byte {
	key := fmt.Sprint(from, "/", tag)
	if n.queues[key] == nil {
		n.queues[key] = make(chan []byte, 16)
	}
	return n.queues[key]
}

type wire struct {
	*network
	rank int
}

func (w wire) Send(tag uint64, buf []byte) error {
	w.mu.Lock()
	msg := append([]byte(nil), buf...)
	key := fmt.Sprint(w.rank, "/", tag)
	if w.tamper != nil {
		msg = w.tamper(w.rank, tag, w.count[key], msg)
	}
	w.count[key]++
	q := w.queue(w.rank, tag)
	w.mu.Unlock()
	select {
	case q <- msg:
		return nil
	case <-w.closed:
		return errCut
	}
}

func (w wire) Recv(tag uint64, buf []byte) (int, error) {
	w.mu.Lock()
	q := w.queue(1-w.rank, tag)
	w.mu.Unlock()
	select {
	case msg := <-q:
		return copy(buf, msg), nil
	case <-w.closed:
		return 0, errCut
	}
}

// play runs one row over the network and returns both sides' errors.
func play(n *network, pair, bytes, warmup, iterations int, record func(int64)) (lead, follow error) {
	done := make(chan error)
	go func() {
		err := newExchange(wire{n, 1}, 3, pair, bytes, Offsets{}).follow(warmup, iterations)
		if err != nil && !errors.Is(err, ErrTold) {
			n.cut()
		}
		done <- err
	}()
	lead = newExchange(wire{n, 0}, 3, pair, bytes, Offsets{}).lead(warmup, iterations, record)
	if lead != nil {
		n.cut()
	}
	return lead, <-done
}

func TestExchange(t *testing.T) {
	for _, bytes := range []int{1, 7, 8, 100, 4096} {
		samples := 0
		lead, follow := play(newNetwork(), 2, bytes, 5, 300, func(c int64) {
			if c < 0 {
				t.Errorf("a round trip took %d cycles", c)
			}
			samples++
		})
		if lead != nil || follow != nil {
			t.Errorf("%d B: rank 0: %v, rank 1: %v", bytes, lead, follow)
		}
		if samples != 300 {
			t.Errorf("%d B: %d samples of 300", bytes, samples)
		}
	}
}

// TestEveryMessage counts the checks, and the bytes that they cover.
func TestEveryMessage(t *testing.T) {
	n := newNetwork()
	var mu sync.Mutex
	checked := map[string]int{}
	counting := func(rank string) func([]byte, uint64) error {
		return func(buf []byte, seed uint64) error {
			mu.Lock()
			defer mu.Unlock()
			checked[rank] += len(buf)
			return pattern.Check(buf, seed)
		}
	}
	done := make(chan error)
	go func() {
		x := newExchange(wire{n, 1}, 0, 0, 24, Offsets{})
		x.check = counting("rank 1")
		done <- x.follow(10, 40)
	}()
	x := newExchange(wire{n, 0}, 0, 0, 24, Offsets{})
	x.check = counting("rank 0")
	if err := errors.Join(x.lead(10, 40, func(int64) {}), <-done); err != nil {
		t.Fatal(err)
	}
	for _, rank := range []string{"rank 0", "rank 1"} {
		if checked[rank] != 50*24 {
			t.Errorf("%s checked %d bytes of %d", rank, checked[rank], 50*24)
		}
	}
}

// TestDamage: whatever happens to one message, in warm-up or later, in either
// direction, rank 0 ends with an error that names it.
func TestDamage(t *testing.T) {
	const bytes, total = 64, 30
	for name, hurt := range map[string]func([]byte) []byte{
		"first byte": func(m []byte) []byte { m[0] ^= 1; return m },
		"last byte":  func(m []byte) []byte { m[len(m)-1] ^= 0x80; return m },
		"short":      func(m []byte) []byte { return m[:len(m)-1] },
		"empty":      func(m []byte) []byte { return nil },
		"zeroed":     func(m []byte) []byte { return make([]byte, len(m)) },
	} {
		for _, at := range []int{0, 7, total - 1} {
			for rank, kind := range []int{tagMessage, tagAnswer} {
				n := newNetwork()
				n.tamper = func(from int, tg uint64, i int, msg []byte) []byte {
					if from == rank && tg == tag(1, kind) && i == at {
						return hurt(msg)
					}
					return msg
				}
				lead, _ := play(n, 1, bytes, 10, total-10, func(int64) {})
				want := []string{"message", "answer"}[rank] + fmt.Sprintf(" %d of 64 B, pair 1", at)
				if lead == nil || !strings.Contains(lead.Error(), want) {
					t.Errorf("%s of %s %d: %v, want an error about %q", name, []string{"message", "answer"}[rank], at, lead, want)
				}
			}
		}
	}
}

// TestStaleAnswer: an answer sent twice does not pass for the next.
func TestStaleAnswer(t *testing.T) {
	n := newNetwork()
	var last []byte
	n.tamper = func(from int, tg uint64, i int, msg []byte) []byte {
		if from == 1 && tg == tag(0, tagAnswer) {
			if i == 20 {
				return last
			}
			last = append(last[:0:0], msg...)
		}
		return msg
	}
	lead, _ := play(n, 0, 1, 0, 30, func(int64) {})
	if !errors.Is(lead, errVerify) {
		t.Errorf("rank 0: %v", lead)
	}
}

// TestCut: a lost wire ends both sides with its error.
func TestCut(t *testing.T) {
	n := newNetwork()
	n.tamper = func(from int, tg uint64, i int, msg []byte) []byte {
		if from == 0 && i == 9 {
			n.cut()
		}
		return msg
	}
	x := newExchange(wire{n, 1}, 0, 0, 8, Offsets{})
	done := make(chan error)
	go func() { done <- x.follow(0, 100) }()
	lead := newExchange(wire{n, 0}, 0, 0, 8, Offsets{}).lead(0, 100, func(int64) {})
	if follow := <-done; !errors.Is(lead, errCut) || !errors.Is(follow, errCut) {
		t.Errorf("rank 0: %v, rank 1: %v", lead, follow)
	}
}

// TestUnready: what is no ready message, or that of another iteration, is refused.
func TestUnready(t *testing.T) {
	for _, hurt := range []func([]byte) []byte{
		func(m []byte) []byte { m[0]++; return m },
		func(m []byte) []byte { return m[:3] },
	} {
		n := newNetwork()
		n.tamper = func(from int, tg uint64, i int, msg []byte) []byte {
			if tg == tag(0, tagReady) && i == 3 {
				return hurt(msg)
			}
			return msg
		}
		if lead, _ := play(n, 0, 8, 0, 10, func(int64) {}); !errors.Is(lead, errVerify) {
			t.Errorf("rank 0: %v", lead)
		}
	}
}

// loop is many over a wire: one message after the other.
type loop struct {
	wire
	messages int
}

func (l loop) sendAll(tag uint64, buf []byte) error {
	for range l.messages {
		if err := l.Send(tag, buf); err != nil {
			return err
		}
	}
	return nil
}

func (l loop) recvAll(tag uint64, buf []byte) error {
	for i := range l.messages {
		if n, err := l.Recv(tag, buf); err != nil {
			return err
		} else if n != len(buf) {
			return fmt.Errorf("%w: message %d has %d bytes", errVerify, i, n)
		}
	}
	return nil
}

// playFlow runs one row with windows of 5 over the network and returns both sides' errors.
func playFlow(n *network, windows int, record func(int64)) (lead, follow error) {
	done := make(chan error)
	go func() {
		err := newFlow(wire{n, 1}, loop{wire{n, 1}, 5}, 3, 1, 64, Offsets{}).follow(2, windows)
		if err != nil && !errors.Is(err, ErrTold) {
			n.cut()
		}
		done <- err
	}()
	lead = newFlow(wire{n, 0}, loop{wire{n, 0}, 5}, 3, 1, 64, Offsets{}).lead(2, windows, record)
	if lead != nil {
		n.cut()
	}
	return lead, <-done
}

// TestFlow: every window is a sample, and damage to the length of any message, or to what a
// window leaves, ends rank 0 with an error that names the window.
func TestFlow(t *testing.T) {
	samples := 0
	lead, follow := playFlow(newNetwork(), 30, func(int64) { samples++ })
	if lead != nil || follow != nil || samples != 30 {
		t.Errorf("rank 0: %v, rank 1: %v, %d samples of 30", lead, follow, samples)
	}
	for name, x := range map[string]struct {
		at   int
		hurt func([]byte) []byte
		want string
	}{
		"short, in warm-up": {6, func(m []byte) []byte { return m[:len(m)-1] }, "message 1 has 63 bytes"},
		"last byte":         {49, func(m []byte) []byte { m[63] ^= 1; return m }, "window 9 of 64 B, pair 1"},
		"zeroed":            {4, func(m []byte) []byte { return make([]byte, len(m)) }, "window 0 of 64 B, pair 1"},
	} {
		n := newNetwork()
		n.tamper = func(from int, tg uint64, i int, msg []byte) []byte {
			if tg == tag(1, tagMessage) && i == x.at {
				return x.hurt(msg)
			}
			return msg
		}
		if lead, _ := playFlow(n, 30, func(int64) {}); lead == nil || !strings.Contains(lead.Error(), x.want) {
			t.Errorf("%s: %v, want an error about %q", name, lead, x.want)
		}
	}
}
