package nmad

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// lends says whether loans over d are read in place.
func lends(d driver.Driver) bool { return d.Name() == shm.Name || d.Name() == "auto" }

// moving polls all gates until the function that it returns is called, as hooks would.
func (j *job) moving() (stop func()) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			for _, s := range j.sessions {
				for _, d := range s.domains.open.All() {
					d.poll()
				}
			}
			select {
			case <-over:
				return
			default:
				_ = unix.Nanosleep(&unix.Timespec{Nsec: 20_000}, nil) // a timer of Go's may be a millisecond late
			}
		}
	})
	return func() {
		close(over)
		wg.Wait()
	}
}

// assisted is moving over a network that has no descriptor, so that a waiter polls it but now and then; over others it
// does nothing.
func (j *job) assisted(d driver.Driver) (stop func()) {
	if d.Name() != "sim" {
		return func() {}
	}
	return j.moving()
}

// alloc gives a buffer with a message in it.
func alloc(t testing.TB, g *Gate, size int, seed uint64) Buffer {
	t.Helper()
	b, err := g.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Bytes()) != size || b.Len() != size {
		t.Fatalf("a buffer of %d bytes, length %d, in place of %d", len(b.Bytes()), b.Len(), size)
	}
	copy(b.Bytes(), pattern(size, seed))
	return b
}

// take makes sure that a loan has the right bytes, and releases it.
func take(t testing.TB, l Loan, size int, seed uint64) {
	t.Helper()
	if !bytes.Equal(l.Bytes(), pattern(size, seed)) {
		t.Errorf("a loan of %d bytes in place of %d, or damaged", len(l.Bytes()), size)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	if err := l.Release(); !errors.Is(err, ErrReleased) || l.Bytes() != nil || l.InPlace() {
		t.Errorf("a loan that was released: %v, %d bytes", err, len(l.Bytes()))
	}
}

// TestLoan: over every network a message of any size in a buffer of the gate arrives, by any kind of receive, posted
// before or after it; over shared memory it is read where it lies by those that take loans.
func TestLoan(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.close()
		defer j.moving()()
		from, to := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		for i, size := range []int{0, 1, flow.MinLoan - 1, flow.MinLoan, 5000, 70_000, 1 << 20} {
			if size == 1<<20 && d.Name() == "sim" && !effort.Long() {
				continue // in ten thousand pieces
			}
			seed := uint64(i)
			inPlace := lends(d) && size >= flow.MinLoan
			room := make([]byte, size)
			for _, late := range []bool{false, true} {
				what := fmt.Sprintf("%d bytes, late %v", size, late)
				b := alloc(t, from, size, seed)
				var s, r *Request
				post := func() { r = to.Start(&Operation{Kind: KindRecv, Match: Tag(7), Buf: room, Loan: true}) }
				if !late {
					post()
				}
				s = from.Start(&Operation{Match: Tag(7), Buffer: b})
				if late {
					for _, ok := to.Iprobe(Tag(7)); !ok; _, ok = to.Iprobe(Tag(7)) {
						time.Sleep(10 * time.Microsecond)
					}
					post()
				}
				if err := r.Wait(); err != nil || r.Len() != size || r.Size() != uint64(size) {
					t.Fatalf("%s: %v, %d of %d bytes", what, err, r.Len(), r.Size())
				}
				l := r.Loan()
				if l.InPlace() != inPlace {
					t.Errorf("%s: in place: %v", what, l.InPlace())
				}
				if over, _ := s.Test(); over && inPlace {
					t.Errorf("%s: the send is done before the loan was released", what)
				}
				take(t, l, size, seed)
				if err := s.Wait(); err != nil || s.Len() != size {
					t.Fatalf("%s: sent %d: %v", what, s.Len(), err)
				}
				if r.Loan().Bytes() != nil {
					t.Errorf("%s: the request still has its loan", what)
				}
				if len(b.Bytes()) != size {
					t.Errorf("%s: the buffer is not ours again", what)
				}
				// The same buffer again, to a receive that takes no loans.
				s = from.Start(&Operation{Match: Tag(8), Buffer: b})
				if n, err := to.Recv(8, room); err != nil || n != size || !bytes.Equal(room, pattern(size, seed)) {
					t.Fatalf("%s, received as ever: %d bytes, %v, or damaged", what, n, err)
				}
				if err := s.Wait(); err != nil {
					t.Fatal(err)
				}
				if err := b.Release(); err != nil {
					t.Error(err)
				}
			}
		}
		stats := j.sessions[0].Stats()
		if want := uint64(4 * 2 * 2); lends(d) && stats.Loaned != want || !lends(d) && stats.Loaned != 0 {
			t.Errorf("%d messages were loaned", stats.Loaned)
		}
		if p := from.buffers.Load(); p.inUse != 0 || p.free.Free() != DefaultLoans/pageBytes {
			t.Errorf("%d blocks are taken, %d pages free", p.inUse, p.free.Free())
		}
	})
}

// TestLoanReceives: every way to receive gets a message that is loaned.
func TestLoanReceives(t *testing.T) {
	const size = 100_000
	j := newJob(t, 2, shm.Driver{}, nil)
	defer j.close()
	defer j.moving()()
	from, to := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	room := make([]byte, size)
	whole := func(r *Request) ([]byte, error) { err := r.Wait(); return room[:r.Len()], err }
	loan := func(r *Request) ([]byte, error) {
		err := r.Wait()
		l := r.Loan()
		defer l.Release()
		if err == nil && !l.InPlace() {
			err = errors.New("it is not in place")
		}
		return bytes.Clone(l.Bytes()), err
	}
	for what, receive := range map[string]func() ([]byte, error){
		"in parts": func() ([]byte, error) {
			return whole(to.Start(&Operation{Kind: KindRecv, Match: Tag(1), Parts: [][]byte{room[:10], nil, room[10:]}}))
		},
		"by a mask":  func() ([]byte, error) { return whole(to.Start(&Operation{Kind: KindRecv, Match: Match{}, Buf: room})) },
		"any source": func() ([]byte, error) { return whole(j.sessions[1].Irecv(Match{}, room)) },
		"chosen late": func() ([]byte, error) {
			return whole(to.Start(&Operation{Kind: KindRecv, Choose: func(Envelope) []byte { return room }}))
		},
		"claimed":       func() ([]byte, error) { return whole(claim(to).Irecv(room)) },
		"loan, claimed": func() ([]byte, error) { return loan(claim(to).Start(&Operation{Kind: KindRecv, Buf: nil, Loan: true})) },
		"loan, by mask": func() ([]byte, error) { return loan(to.Start(&Operation{Kind: KindRecv, Loan: true})) },
		"loan, any source": func() ([]byte, error) {
			return loan(j.sessions[1].job.Start(AnySource, &Operation{Kind: KindRecv, Loan: true}))
		},
		"loan, would choose": func() ([]byte, error) {
			return loan(to.Start(&Operation{Kind: KindRecv, Loan: true, Choose: func(Envelope) []byte { t.Error("asked for a buffer"); return nil }}))
		},
		"loan, by callback": func() ([]byte, error) {
			done := make(chan []byte, 1)
			to.Start(&Operation{Kind: KindRecv, Match: Tag(1), Loan: true, Done: func(r *Request) {
				l := r.Loan()
				done <- bytes.Clone(l.Bytes())
				l.Release()
			}})
			for {
				select {
				case b := <-done:
					return b, nil
				default:
					to.poll()
				}
			}
		},
		"loan, blocking": func() ([]byte, error) {
			l, err := recvLoan(to, 1, nil)
			defer l.Release()
			return bytes.Clone(l.Bytes()), err
		},
	} {
		for i := range 3 {
			b := alloc(t, from, size, uint64(i))
			s := from.Start(&Operation{Match: Tag(1), Buffer: b})
			if err := b.Release(); err != nil { // it goes when the send is done
				t.Error(err)
			}
			got, err := receive()
			if err != nil || !bytes.Equal(got, pattern(size, uint64(i))) {
				t.Errorf("%s: %d bytes, %v, or damaged", what, len(got), err)
			}
			if err := s.Wait(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	if p := from.buffers.Load(); p.inUse != 0 {
		t.Errorf("%d blocks are taken", p.inUse)
	}
}

func claim(g *Gate) *Message {
	for {
		if m := g.Claim(Match{}); m != nil {
			return m
		}
	}
}

// TestLoanLooks: a message that is loaned can be peeked at, and is told of by probes, before any thread receives it.
func TestLoanLooks(t *testing.T) {
	const size = 50_000
	j := newJob(t, 2, shm.Driver{}, nil)
	defer j.close()
	defer j.moving()()
	from, to := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	s := from.Start(&Operation{Match: Tag(3), Buffer: alloc(t, from, size, 1)})
	e, err := to.Probe(t.Context(), Tag(3))
	if err != nil || e != (Envelope{0, 3, size}) {
		t.Errorf("probe: %+v, %v", e, err)
	}
	first := make([]byte, 100)
	if _, n, ok := to.Peek(Tag(3), first); !ok || n != 100 || !bytes.Equal(first, pattern(size, 1)[:100]) {
		t.Errorf("peek: %v, %d bytes, or the wrong ones", ok, n)
	}
	m := to.Claim(Tag(3))
	if n := m.Peek(first[:50]); n != 50 {
		t.Errorf("peek at what was claimed: %d bytes", n)
	}
	r := m.Start(&Operation{Kind: KindRecv, Buf: nil, Loan: true})
	take(t, r.Loan(), size, 1)
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
}

// TestLoanOrder: messages that are loaned keep their place among those of their tag that are not.
func TestLoanOrder(t *testing.T) {
	j := newJob(t, 2, shm.Driver{}, nil)
	defer j.close()
	defer j.moving()()
	from, to := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	rng := rand.New(rand.NewPCG(1, 2))
	const messages = 60
	sizes := make([]int, messages)
	var sends []*Request
	for i := range sizes {
		sizes[i] = rng.IntN(100_000)
		if rng.IntN(3) == 0 {
			sends = append(sends, from.Isend(1, pattern(sizes[i], uint64(i))))
			continue
		}
		b := alloc(t, from, sizes[i], uint64(i))
		sends = append(sends, from.Start(&Operation{Match: Tag(1), Buffer: b}))
		b.Release()
	}
	room := make([]byte, 100_000)
	for i, size := range sizes {
		if rng.IntN(2) == 0 {
			if n, err := to.Recv(1, room); err != nil || !bytes.Equal(room[:n], pattern(size, uint64(i))) {
				t.Fatalf("message %d: %d bytes in place of %d, %v, or damaged", i, n, size, err)
			}
			continue
		}
		l, err := recvLoan(to, 1, room)
		if err != nil {
			t.Fatal(err)
		}
		take(t, l, size, uint64(i))
	}
	for i, s := range sends {
		if err := s.Wait(); err != nil {
			t.Errorf("send %d: %v", i, err)
		}
	}
}

// TestLoanTruncated: a receive that takes no loans and is too short gets what fits, and the buffer comes back.
func TestLoanTruncated(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.close()
		defer j.moving()()
		from, to := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		b := alloc(t, from, 100_000, 5)
		for _, room := range []int{0, 10, 99_999} {
			s := from.Start(&Operation{Match: Tag(1), Buffer: b})
			buf := make([]byte, room)
			n, err := to.Recv(1, buf)
			if !errors.Is(err, ErrTruncated) || n != room || !bytes.Equal(buf, pattern(100_000, 5)[:room]) {
				t.Errorf("into %d bytes: %d, %v, or damaged", room, n, err)
			}
			if err := s.Wait(); err != nil {
				t.Error(err)
			}
		}
		s := from.Start(&Operation{Match: Tag(1), Buffer: b.First(60_000)})
		r := to.Start(&Operation{Kind: KindRecv, Match: Tag(1), Buf: make([]byte, 50_000), Loan: true})
		err := r.Wait()
		if lends(d) {
			if err != nil {
				t.Errorf("a loan needs no room: %v", err)
			}
			take(t, r.Loan(), 60_000, 5)
		} else if !errors.Is(err, ErrTruncated) || r.Loan().Bytes() != nil {
			t.Errorf("into too little room: %v, with a loan of %d bytes", err, len(r.Loan().Bytes()))
		}
		if err := s.Wait(); err != nil || s.Len() != 60_000 {
			t.Errorf("%d bytes sent, %v", s.Len(), err)
		}
		if err := b.Release(); err != nil {
			t.Error(err)
		}
	})
}

// TestBufferMisuse: a buffer that was released, or is under way, or of another gate, says so.
func TestBufferMisuse(t *testing.T) {
	j := newJob(t, 3, shm.Driver{}, nil)
	defer j.close()
	defer j.moving()()
	from, to := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	b := alloc(t, from, 10_000, 1)
	var none Gate
	for what, c := range map[string]struct {
		do   func() error
		want error
	}{
		"no gate":          {func() error { _, err := none.Alloc(1); return err }, ErrRank},
		"nil gate":         {func() error { return (*Gate)(nil).Start(&Operation{Match: Tag(1), Buffer: b}).Wait() }, ErrRank},
		"below 0":          {func() error { _, err := from.Alloc(-1); return err }, ErrConfig},
		"too large":        {func() error { _, err := from.Alloc(DefaultLoans + 1); return err }, ErrNoRoom},
		"release of zero":  {func() error { return Buffer{}.Release() }, ErrReleased},
		"release of none":  {func() error { return Loan{}.Release() }, ErrReleased},
		"other gate":       {func() error { return j.sessions[0].Gate(2).Start(&Operation{Match: Tag(1), Buffer: b}).Wait() }, ErrConfig},
		"own gate":         {func() error { return j.sessions[0].Gate(0).Start(&Operation{Match: Tag(1), Buffer: b}).Wait() }, ErrConfig},
		"with other bytes": {func() error { return from.Post(new(Request), &Operation{Buffer: b, Buf: []byte{1}}) }, ErrConfig},
		"request in use": {func() error {
			r := to.Irecv(99, nil)
			defer r.Cancel()
			return to.Post(r, &Operation{Buffer: alloc(t, to, 5000, 1)})
		}, ErrActive},
	} {
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	s := from.Start(&Operation{Match: Tag(1), Buffer: b})
	if err := from.Start(&Operation{Match: Tag(1), Buffer: b}).Wait(); !errors.Is(err, ErrActive) {
		t.Errorf("sent twice: %v", err)
	}
	if err := b.Release(); err != nil {
		t.Error(err)
	}
	if err := from.Start(&Operation{Match: Tag(1), Buffer: b}).Wait(); !errors.Is(err, ErrReleased) {
		t.Errorf("sent after it was released: %v", err)
	}
	if err := b.Release(); !errors.Is(err, ErrReleased) || b.Bytes() != nil {
		t.Errorf("released twice: %v, %d bytes", err, len(b.Bytes()))
	}
	r := to.Start(&Operation{Kind: KindRecv, Match: Tag(1), Buf: nil, Loan: true})
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	take(t, r.Loan(), 10_000, 1)
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	again := alloc(t, from, 10_000, 1)
	if again.block != b.block || again.block.firstPage != 0 || b.Bytes() != nil || b.Release() == nil {
		t.Error("an old handle is good for the buffer that came after it")
	}
	again.Release()
	if got := b.First(20_000).Len() + b.First(-1).Len(); got != 10_000 {
		t.Errorf("cut to 20000 and -1 bytes: %d altogether", got)
	}
	// A receive that is canceled has taken nothing.
	r = to.Start(&Operation{Kind: KindRecv, Match: Tag(2), Buf: nil, Loan: true})
	if !r.Cancel() || !errors.Is(r.Wait(), ErrCanceled) || r.Loan().Bytes() != nil {
		t.Error("a receive was not canceled, or has a loan")
	}
}

// TestStaleBuffer: threads may use handles of a buffer that was released while others get the same memory anew. The race
// detector is what finds a fault here.
func TestStaleBuffer(t *testing.T) {
	j := newJob(t, 2, shm.Driver{}, nil)
	defer j.close()
	defer j.moving()()
	g := j.sessions[0].Gate(1)
	stale := alloc(t, g, 100, 1)
	if err := stale.Release(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range effort.Of(50_000) {
				if b, err := g.Alloc(100); err != nil || stale.Bytes() != nil || !errors.Is(stale.Release(), ErrReleased) || b.Release() != nil {
					t.Errorf("an old handle is good, or a new one is not: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestLoansExhausted: when all memory is loaned there is a clear error, and as soon as a loan is released there is room
// again.
func TestLoansExhausted(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, func(c *Config) { c.Loans = 1 << 20 })
		defer j.close()
		defer j.moving()()
		from, to := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		var sends []*Request
		for i := range 4 {
			b := alloc(t, from, 256<<10, uint64(i))
			sends = append(sends, from.Start(&Operation{Match: Tag(1), Buffer: b}))
			b.Release()
		}
		if _, err := from.Alloc(1); !errors.Is(err, ErrNoRoom) {
			t.Errorf("a fifth quarter: %v", err)
		}
		room := make([]byte, 256<<10)
		for i, s := range sends {
			l, err := recvLoan(to, 1, room)
			if err != nil {
				t.Fatal(err)
			}
			take(t, l, 256<<10, uint64(i))
			if err := s.Wait(); err != nil {
				t.Error(err)
			}
			alloc(t, from, 256<<10, 9).Release()
		}
		alloc(t, from, 1<<20, 9).Release()
	})
}

// TestLoanSelf: a process may send a buffer to itself.
func TestLoanSelf(t *testing.T) {
	j := newJob(t, 1, nil, nil)
	g := j.sessions[0].Gate(0)
	for _, size := range []int{100, 100_000} {
		b := alloc(t, g, size, 3)
		s := g.Start(&Operation{Match: Tag(1), Buffer: b})
		r := g.Start(&Operation{Kind: KindRecv, Match: Tag(1), Buf: make([]byte, size), Loan: true})
		if err := errors.Join(r.Wait(), s.Wait()); err != nil {
			t.Fatal(err)
		}
		take(t, r.Loan(), size, 3)
		if err := b.Release(); err != nil {
			t.Error(err)
		}
	}
	j.close()
	if _, err := g.Alloc(1); !errors.Is(err, ErrClosed) || !g.buffers.Load().vacated {
		t.Errorf("a buffer after Close: %v, or memory stays mapped", err)
	}
}

// TestLoanClose: what was loaned stays readable when its sender has closed, and when the receiver has; sends of the
// receiver's side fail with ErrClosed after Linger, buffers can still be released, and then nothing is mapped any more.
func TestLoanClose(t *testing.T) {
	for closer := range 2 {
		leakless(t, func() {
			j := newJob(t, 2, shm.Driver{}, func(c *Config) { c.Linger = 20 * time.Millisecond })
			defer j.moving()()
			from, to := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
			b := alloc(t, from, 50_000, 1)
			s := from.Start(&Operation{Match: Tag(1), Buffer: b})
			l, err := recvLoan(to, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := j.sessions[closer].Close(); err != nil {
				t.Log(err) // of a send that could not leave
			}
			want := []error{ErrClosed, ErrPeerLost}[closer]
			if err := s.Wait(); !errors.Is(err, want) {
				t.Errorf("rank %d has closed: the send ends with %v, want %v", closer, err, want)
			}
			if _, err := j.sessions[closer].Gate(1 - closer).Alloc(1); err == nil {
				t.Error("a buffer of a session that was closed")
			}
			j.sessions[1-closer].Close()
			for _, e := range j.engines {
				e.Close()
			}
			if from.buffers.Load().vacated || to.locked.view == nil {
				t.Error("memory is gone before it was released")
			}
			if !bytes.Equal(b.Bytes(), pattern(50_000, 1)) {
				t.Error("the buffer is damaged")
			}
			if err := from.Start(&Operation{Match: Tag(1), Buffer: b}).Wait(); err == nil {
				t.Error("a send of a session that was closed")
			}
			take(t, l, 50_000, 1)
			if err := b.Release(); err != nil {
				t.Error(err)
			}
			if !from.buffers.Load().vacated || to.locked.view != nil {
				t.Error("memory stays mapped")
			}
		})
	}
}

// recvLoan receives a message that may be loaned.
func recvLoan(g *Gate, tag uint64, buf []byte) (Loan, error) {
	r := g.Start(&Operation{Kind: KindRecv, Match: Tag(tag), Buf: buf, Loan: true})
	err := r.Wait()
	return r.Loan(), err
}
