package shm

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
)

// meeting is where two goroutines wait for each other, over and over, by polling: so both leave it within some tens of
// nanoseconds, if each has a CPU.
type meeting struct {
	*common
	seen atomic.Uint64 // for the race detector: what one did before it came, the other one may look at
}

// common lies in mapped memory, where a poll costs no more under the race detector than without it.
type common struct {
	come  [2]line
	ended line
	early line // an int64, of the side that comes after: cycles
	lines [40]line
}

// line is a word that has its cache lines for itself.
type line struct {
	word atomic.Uint64
	_    [padding - 8]byte
}

func newMeeting(t *testing.T) *meeting {
	t.Helper()
	p, err := unix.MmapPtr(-1, 0, nil, unsafe.Sizeof(common{}), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.MunmapPtr(p, unsafe.Sizeof(common{})) })
	return &meeting{common: (*common)(p)}
}

// meet waits for the other one; false: it does not come any more.
func (mt *meeting) meet(me int) bool {
	mt.seen.Add(1)
	n := mt.come[me].word.Add(1)
	for polls := 1; mt.come[1-me].word.Load() < n; polls++ {
		if polls%1024 == 0 {
			if mt.ended.word.Load() != 0 {
				return false
			}
			runtime.Gosched()
			kernel.Yield() // if both have one CPU after all
		}
	}
	mt.seen.Load()
	return true
}

// end has no thread wait any more.
func (mt *meeting) end() { mt.ended.word.Store(1) }

// read by one side and write by the other have the CPU of the latter wait for cache lines: a store that it makes after
// that is not seen before these are, while it goes on to loads, unless the store is a barrier. The race detector would
// take so long that nothing waits any more.
//
//go:norace
func (mt *meeting) read() (sum uint64) {
	for i := range mt.lines {
		sum += *(*uint64)(unsafe.Pointer(&mt.lines[i]))
	}
	return sum
}

//go:norace
func (mt *meeting) write() {
	for i := range mt.lines {
		*(*uint64)(unsafe.Pointer(&mt.lines[i]))++
	}
}

// linked links two endpoints of this process by a segment, which either maps for itself.
func linked(t *testing.T, d Driver) (dialer, listener *link) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var eps [2]driver.Endpoint
	for i := range eps {
		var err error
		if eps[i], err = d.Open(config(i)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = eps[i].Close() })
	}
	result := make(chan error, 1)
	go func() {
		l, err := eps[1].Dial(ctx, 0, eps[0].Addr())
		if err == nil {
			dialer = l.(*link)
		}
		result <- err
	}()
	_, l, err := eps[0].Accept(ctx)
	if derr := <-result; err != nil || derr != nil {
		t.Fatal(err, derr)
	}
	listener = l.(*link)
	t.Cleanup(func() { _, _ = dialer.Close(), listener.Close() })
	return dialer, listener
}

// encounter is two sides, of which one goes to sleep while the other does what must wake it.
type encounter struct {
	name   string
	room   bool                // the one waits for room
	offers bool                // the memory of processes must be readable
	begin  func(e *ends) error // once
	before func(e *ends) error // sees to it that the one finds nothing
	wake   func(e *ends) error // by the other
	after  func(e *ends) error // takes what has come
}

// ends is the two sides, and what they send each other.
type ends struct {
	sleeper, waker *link
	out, in        []byte
	part           claimedPiece
}

var errUnexpected = errors.New("not what was to happen")

// expect is whether a call did what it was to.
func expect(ok bool, err error) error {
	if err == nil && !ok {
		err = errUnexpected
	}
	return err
}

func (es *ends) send(l *link) (bool, error) {
	return l.Send(&driver.Header{Body: uint32(len(es.out))}, es.out, nil, false)
}

func (es *ends) recv(l *link) (bool, error) {
	var h driver.Header
	body, ok, err := l.Recv(&h)
	copy(es.in, body)
	return ok, err
}

func (es *ends) push(l *link) (bool, error) {
	n, err := l.Push(es.out)
	return n == len(es.out), err
}

func (es *ends) pull(l *link) (bool, error) {
	n, err := l.Pull(es.in)
	return n == len(es.in), err
}

// fill sends until there is no room.
func (es *ends) fill(try func(*link) (bool, error)) error {
	for {
		if ok, err := try(es.sleeper); !ok || err != nil {
			return err
		}
	}
}

// move brings the rest of the message from one to the other, of which so much has gone and come.
func (es *ends) move(from, to *link, gone, come int) error {
	for gone < len(es.out) || come < len(es.in) {
		n, err := from.Push(es.out[gone:])
		if err != nil {
			return err
		}
		gone += n
		if n, err = to.Pull(es.in[come:]); err != nil {
			return err
		}
		come += n
	}
	return nil
}

// encounters are all there are: by what the waker lets the sleeper know.
var encounters = []encounter{
	{name: "packet",
		before: func(e *ends) error { ok, err := e.recv(e.sleeper); return expect(!ok, err) },
		wake:   func(e *ends) error { return expect(e.send(e.waker)) },
		after:  func(e *ends) error { return expect(e.recv(e.sleeper)) },
		begin:  none,
	},
	{name: "slot",
		before: func(e *ends) error { ok, err := e.pull(e.sleeper); return expect(!ok, err) },
		wake:   func(e *ends) error { return expect(e.push(e.waker)) },
		after:  func(e *ends) error { return expect(e.pull(e.sleeper)) },
		begin:  none,
	},
	{name: "room for a packet", room: true,
		// What is received is free when the next is.
		begin: func(e *ends) error {
			if err := expect(e.send(e.sleeper)); err != nil {
				return err
			}
			return expect(e.recv(e.waker))
		},
		before: func(e *ends) error { return e.fill(e.send) },
		wake:   func(e *ends) error { return expect(e.recv(e.waker)) },
		after:  none,
	},
	{name: "room for a slot", room: true,
		before: func(e *ends) error { return e.fill(e.push) },
		wake:   func(e *ends) error { return expect(e.pull(e.waker)) },
		begin:  none,
		after:  none,
	},
	{name: "offer", offers: true,
		before: func(e *ends) error { n, err := e.sleeper.Pull(e.in); return expect(n == 0, err) },
		wake:   func(e *ends) error { n, err := e.waker.Push(e.out); return expect(n == 0, err) },
		after:  func(e *ends) error { return e.move(e.waker, e.sleeper, 0, 0) },
		begin:  none,
	},
	{name: "piece of an offer", offers: true,
		before: func(e *ends) error {
			if n, err := e.waker.Push(e.out); n != 0 || err != nil {
				return expect(false, err)
			}
			r := &e.sleeper.largeRx
			if err := r.acceptOffer(); err != nil {
				return err
			}
			r.startShare(e.in, r.pieceOf(len(e.in)))
			var ok bool
			var err error
			if e.part, ok, err = e.waker.largeTx.claim(); !ok || err != nil {
				return expect(ok, err)
			}
			if _, errno := e.waker.writer.Write(e.part.bytes, e.part.to); errno != 0 {
				return errno
			}
			// All but that piece.
			if n, err := e.sleeper.Pull(e.in); n != len(e.in)-len(e.part.bytes) || err != nil {
				return expect(false, err)
			}
			n, err := e.sleeper.Pull(e.in[len(e.in)-len(e.part.bytes):])
			return expect(n == 0, err)
		},
		wake: func(e *ends) error {
			e.waker.publishWritten(e.part, true)
			return nil
		},
		after: func(e *ends) error { return e.move(e.waker, e.sleeper, 0, len(e.in)-len(e.part.bytes)) },
		begin: none,
	},
	{name: "bytes fetched", offers: true, room: true,
		before: func(e *ends) error { n, err := e.sleeper.Push(e.out); return expect(n == 0, err) },
		wake:   func(e *ends) error { n, err := e.waker.Pull(e.in); return expect(n == len(e.in), err) },
		after:  func(e *ends) error { n, err := e.sleeper.Push(e.out); return expect(n == len(e.out), err) },
		begin:  none,
	},
	{name: "offer declined", offers: true, room: true,
		before: func(e *ends) error { n, err := e.sleeper.Push(e.out); return expect(n == 0, err) },
		wake:   func(e *ends) error { n, err := e.waker.Pull(e.in[:1]); return expect(n == 0, err) },
		after:  func(e *ends) error { return e.move(e.sleeper, e.waker, 0, 0) },
		begin:  none,
	},
}

// clash has two sides act at the same moment, over and over for some time: one in this goroutine, the other in a second
// one. one says whether it was first, as far as it could see; one that is so too often waits before it acts. What before
// and after do, they do alone. An error ends it.
func clash(t *testing.T, d time.Duration, before func() error, one func() (first bool), other func() error, after func(first bool) error) (rounds int) {
	t.Helper()
	const (
		step   = 16   // cycles, by which the two move towards each other in a round
		least  = 4096 // rounds, even if that takes longer, as where other processes have the CPUs: slower times as long at most
		slower = 8
	)
	m := newMeeting(t)
	failed := make(chan error, 1)
	go func() {
		var err error
		for err == nil && m.meet(1) {
			pass(-int64(m.early.word.Load()))
			m.write()
			if err = other(); err == nil && !m.meet(1) {
				break
			}
		}
		m.end()
		failed <- err
	}()
	rng := rand.New(rand.NewPCG(3, 4))
	early := int64(0)
	for start := time.Now(); ; rounds++ {
		if took := time.Since(start); took > d && rounds >= least || took > slower*d {
			break
		}
		if err := before(); err != nil {
			t.Errorf("round %d: before: %v", rounds, err)
			break
		}
		m.read()
		m.early.word.Store(uint64(early))
		if !m.meet(0) {
			break
		}
		pass(early + rng.Int64N(8*step))
		first := one()
		if !m.meet(0) {
			break
		}
		if early -= step; first {
			early += 2 * step
		}
		if err := after(first); err != nil {
			t.Errorf("round %d: after: %v", rounds, err)
			break
		}
	}
	m.end()
	if err := <-failed; err != nil {
		t.Errorf("round %d: %v", rounds, err)
	}
	return rounds
}

// pass lets time pass.
func pass(cycles int64) {
	for start := asm.Cycles(); asm.Cycles()-start < cycles; {
	}
}

// TestPublish is what all that sleeps rests upon, with nothing around it: one raises its flag and looks at the word, the
// other publishes the word and looks at the flag; the one that is second sees what the first one did.
func TestPublish(t *testing.T) {
	twoCPUs(t)
	a, b := linked(t, Driver{geo: &tiny})
	round, seen, missed := uint64(1), false, 0
	ours, flag := &a.largeRx.words[0].ready, &a.ownFlags.sleeping
	theirs, raised := &b.largeTx.words[0].ready, &b.peerFlags.sleeping
	rounds := clash(t, effort.Of(time.Second), nothing,
		func() bool {
			flag.Swap(1)
			return ours.Load() != round
		},
		func() error {
			theirs.publish(round)
			seen = raised.Load() != 0
			return nil
		},
		func(first bool) error {
			if first && !seen {
				missed++
			}
			flag.Swap(0)
			round++
			return nil
		})
	if missed > 0 {
		t.Errorf("in %d of %d rounds neither saw what the other one did", missed, rounds)
	}
}

// TestWakes has each encounter take place at the moment at which it is open which is first: the one that then sleeps was
// woken.
func TestWakes(t *testing.T) {
	twoCPUs(t)
	for _, c := range encounters {
		t.Run(c.name, func(t *testing.T) {
			// What is copied before a word is published delays that: as much as fits into a store buffer is enough.
			d := Driver{geo: &geometry{cells: 4, maxBody: 4096, bodies: 16384, slots: 2, slotSize: 4096}, Copy: "two", minOffer: 100}
			if c.offers {
				if d.Copy = "single"; ourselves() == 0 {
					t.Skip("this kernel lets no process read another one's memory")
				}
			}
			e := &ends{}
			e.sleeper, e.waker = linked(t, d)
			e.out, e.in = message(2000)
			if err := c.begin(e); err != nil {
				t.Fatal(err)
			}
			flag := &e.sleeper.ownFlags.sleeping
			if c.room {
				flag = &e.sleeper.ownFlags.wantRoom
			}
			asleep, lost := 0, 0
			rounds := clash(t, effort.Of(time.Second),
				func() error {
					_ = bytes.Equal(e.in, e.out) // its lines are here, whichever side writes them next
					return c.before(e)
				},
				func() bool { return e.sleeper.Arm(c.room) },
				func() error { return c.wake(e) },
				func(armed bool) error {
					if armed {
						asleep++
						if flag.Load() != 0 { // none has taken it, to ring
							lost++
						}
						e.sleeper.disarm()
					}
					return c.after(e)
				})
			if lost > 0 {
				t.Errorf("of %d rounds, in %d of which one side slept, %d wakes were lost", rounds, asleep, lost)
			}
			// Where other processes leave the two one CPU, the same one may be first each time.
			t.Logf("%d rounds, in %d of which one side slept", rounds, asleep)
		})
	}
}

func twoCPUs(t *testing.T) {
	t.Helper()
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("two CPUs are needed for two things to happen at once")
	}
}

func nothing() error   { return nil }
func none(*ends) error { return nil }
