package nmad

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// shape is a way in which a message may lie.
type shape struct {
	name string
	send func(o *Operation, b []byte)
	recv func(o *Operation, n int) (read func() []byte)
}

// listed is a Data that knows its pieces, and counts the walks.
type listed struct {
	parts [][]byte
	size  int
}

func (li *listed) Size() int { return li.size }

func (li *listed) Pieces(from int, yield func([]byte) bool) {
	for _, p := range li.parts {
		if from > 0 && from >= len(p) {
			from -= len(p)
			continue
		}
		if !yield(p[min(from, len(p)):]) {
			return
		}
		from = 0
	}
}

// cutBy cuts b into pieces whose lengths next gives.
func cutBy(b []byte, next func() int) [][]byte {
	parts := [][]byte{{}}
	for len(b) > 0 {
		n := min(next(), len(b))
		parts = append(parts, b[:n:n])
		b = b[n:]
	}
	return append(parts, nil)
}

// inPieces is a shape of pieces of certain lengths.
func inPieces(name string, asData bool, lengths func() func() int) shape {
	return shape{
		name: name,
		send: func(o *Operation, b []byte) {
			if parts := cutBy(b, lengths()); asData {
				o.Data = &listed{parts, len(b)}
			} else {
				o.Parts = parts
			}
		},
		recv: func(o *Operation, n int) func() []byte {
			b := make([]byte, n)
			if parts := cutBy(b, lengths()); asData {
				o.Data = &listed{parts, n}
			} else {
				o.Parts = parts
			}
			return func() []byte { return b }
		},
	}
}

// column is a shape of blocks in a matrix.
func column(block, stride int) shape {
	matrix := func(n int) *Vector {
		count := n / block // a rest is left out
		v, err := NewVector(make([]byte, count*stride+block), count, block, stride)
		if err != nil {
			panic(err)
		}
		return v
	}
	return shape{
		name: fmt.Sprintf("vector of %d in %d", block, stride),
		send: func(o *Operation, b []byte) {
			if len(b)%block != 0 {
				o.Buf = b
				return
			}
			v := matrix(len(b))
			v.Pieces(0, func(p []byte) bool {
				b = b[copy(p, b):]
				return true
			})
			o.Data = v
		},
		recv: func(o *Operation, n int) func() []byte {
			if n%block != 0 {
				o.Buf = make([]byte, n)
				return func() []byte { return o.Buf }
			}
			v := matrix(n)
			o.Data = v
			return func() (b []byte) {
				v.Pieces(0, func(p []byte) bool {
					b = append(b, p...)
					return true
				})
				return b
			}
		},
	}
}

func same(n int) func() func() int { return func() func() int { return func() int { return n } } }

func shapes() []shape {
	mixed := func() func() int {
		rng := rand.New(rand.NewPCG(1, 2))
		return func() int { return []int{0, 1, 7, 63, 300, 5000, flow.LongPiece, 2*flow.LongPiece + 1}[rng.IntN(8)] }
	}
	whole := shape{
		name: "in one piece",
		send: func(o *Operation, b []byte) { o.Buf = b },
		recv: func(o *Operation, n int) func() []byte {
			b := make([]byte, n)
			o.Buf = b
			return func() []byte { return b }
		},
	}
	return []shape{
		whole, inPieces("parts of 61", false, same(61)), inPieces("parts of 1", false, same(1)),
		inPieces("parts of odd lengths", false, mixed), inPieces("data in odd pieces", true, mixed),
		column(8, 24), column(40000, 40001),
	}
}

// TestShapes sends messages that lie in every way to places of every other one, over every
// network and to the own rank, at lengths for every protocol.
func TestShapes(t *testing.T) {
	overAllAtOnce(t, func(t *testing.T, d driver.Driver) {
		every := 4
		sizes := []int{0, 1, 61, 240, 8 * 40000, flow.BounceSize, flow.BounceSize + 1, 400_001}
		switch {
		case testing.Short():
			every, sizes = 8, []int{240, 400_001}
		case !effort.Long():
			sizes = []int{1, 240, flow.BounceSize + 1, 400_001}
		}
		j := newJob(t, 2, d, nil)
		defer j.close()
		defer j.assisted(d)()
		for _, to := range []int{0, 1} {
			all := shapes()
			for i, out := range all {
				for k, in := range all {
					for n, size := range sizes {
						if (5*i+k+n)%every == 0 { // each pair of shapes sees some of the sizes, each size all shapes
							room := size >> ((i + n) % 2)
							what := fmt.Sprintf("rank 0 to %d, %d bytes, %s, to %d, %s", to, size, out.name, room, in.name)
							carryShape(t, what, j.sessions[0].Gate(to), j.sessions[to].Gate(0), out, in, size, room)
						}
					}
				}
			}
		}
	})
}

// waitBoth waits on both sides, each of which moves its own gate on.
func waitBoth(s, r *Request) (serr, rerr error) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		rerr = r.Wait()
	}()
	serr = s.Wait()
	<-over
	return serr, rerr
}

func carryShape(t *testing.T, what string, from, to *Gate, out, in shape, size, room int) {
	t.Helper()
	msg := pattern(size, uint64(size))
	sop, rop := &Operation{Match: Tag(3)}, &Operation{Kind: KindRecv, Match: Tag(3)}
	out.send(sop, msg)
	read := in.recv(rop, room)
	var s, r Request
	if err := errors.Join(from.Post(&s, sop), to.Post(&r, rop)); err != nil {
		t.Fatal(what, err)
	}
	serr, rerr := waitBoth(&s, &r)
	if serr != nil || errors.Is(rerr, ErrTruncated) != (room < size) || rerr != nil && room == size {
		t.Fatal(what, serr, rerr)
	}
	if s.Len() != size || r.Len() != room || r.Size() != uint64(size) || !bytes.Equal(read(), msg[:room]) {
		t.Fatalf("%s: %d sent, %d of %d received, equal: %v", what, s.Len(), r.Len(), r.Size(), bytes.Equal(read(), msg[:room]))
	}
}

// TestShapesOverRails: the chunks of a message travel over several rails at once, whatever its shape.
func TestShapesOverRails(t *testing.T) {
	for _, out := range shapes() {
		for _, in := range shapes() {
			p := newPair(simnet.Options{MaxBody: 256, Large: 30000}, wide, simnet.Options{Large: 20000}, simnet.Options{Large: 100})
			const size = 320_000
			msg := pattern(size, 1)
			sop, rop := &Operation{Match: Tag(3)}, &Operation{Kind: KindRecv, Match: Tag(3)}
			out.send(sop, msg)
			read := in.recv(rop, size)
			var s, r Request
			if err := errors.Join(p.gates[0].Post(&s, sop), p.gates[1].Post(&r, rop)); err != nil {
				t.Fatal(err)
			}
			p.settle()
			mustDone(t, &s, nil)
			mustDone(t, &r, nil)
			if !bytes.Equal(read(), msg) {
				t.Fatalf("%s to %s: damaged", out.name, in.name)
			}
			if st := p.gates[0].Stats(); st.Rails[1].ChunksSent == 0 {
				t.Fatalf("%s to %s: nothing went over the second rail", out.name, in.name)
			}
		}
	}
}

// TestShortData: a Data whose pieces are fewer bytes than its size ends its request with
// ErrData, on its side only; messages after it are whole.
func TestShortData(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.close()
		for _, to := range []int{0, 1} {
			from, to := j.sessions[0].Gate(to), j.sessions[to].Gate(0)
			for _, size := range []int{100, 10_000, 200_000} {
				msg := pattern(size, 7)
				buf := pattern(size, 8)
				s, r := from.Start(&Operation{Match: Tag(1), Data: &listed{[][]byte{msg[:size/3], msg[size/3 : size/2]}, size}}), to.Irecv(1, buf)
				if serr, rerr := waitBoth(s, r); !errors.Is(serr, ErrData) || rerr != nil {
					t.Fatalf("%d bytes, of which half are there: %v, %v", size, serr, rerr)
				}
				if !bytes.Equal(buf[:size/2], msg[:size/2]) || !bytes.Equal(buf[size/2:], make([]byte, size-size/2)) {
					t.Fatalf("%d bytes, of which half are there: they are damaged, or the others are not zero", size)
				}
				half := make([]byte, size/2)
				s, r = from.Isend(1, msg), to.Start(&Operation{Kind: KindRecv, Match: Tag(1), Data: &listed{[][]byte{half}, size}})
				if serr, rerr := waitBoth(s, r); serr != nil || !errors.Is(rerr, ErrData) || !bytes.Equal(half, msg[:size/2]) {
					t.Fatalf("%d bytes, with room for half of them: %v, %v", size, serr, rerr)
				}
				s, r = from.Isend(1, msg), to.Irecv(1, buf)
				if err := errors.Join(waitBoth(s, r)); err != nil || !bytes.Equal(buf, msg) {
					t.Fatalf("after that: %v, or damaged", err)
				}
			}
		}
	})
}

// TestDataFails: a peer that is lost in the middle of a message ends it whatever its shape, and its
// memory is not touched any more.
func TestDataFails(t *testing.T) {
	for _, in := range shapes() {
		p := newPair(simnet.Options{MaxBody: 256, Large: 100}, wide)
		const size = 200_000
		sop, rop := &Operation{Match: Tag(3), Buf: pattern(size, 1)}, &Operation{Kind: KindRecv, Match: Tag(3)}
		read := in.recv(rop, size)
		var s, r Request
		if err := errors.Join(p.gates[0].Post(&s, sop), p.gates[1].Post(&r, rop)); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			p.gates[0].poll()
			p.gates[1].poll()
		}
		p.gates[1].peerEnded("as planned")
		if over, err := r.Test(); !over || !errors.Is(err, ErrPeerLost) {
			t.Fatalf("%s: %v, %v", in.name, over, err)
		}
		before := bytes.Clone(read())
		p.gates[0].poll()
		p.gates[1].poll()
		if !bytes.Equal(before, read()) {
			t.Fatalf("%s: its memory is still written to", in.name)
		}
	}
}

// TestDataAllocatesNothing: neither short messages nor rendezvous of any shape.
func TestDataAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	p := newPair(simnet.Options{Large: 1 << 20}, wide)
	for _, size := range []int{240, 20_000, 320_000} {
		for _, shape := range shapes() {
			sop, rop := &Operation{Match: Tag(3)}, &Operation{Kind: KindRecv, Match: Tag(3)}
			shape.send(sop, pattern(size, 1))
			shape.recv(rop, size)
			var s, r Request
			if n := testing.AllocsPerRun(20, func() {
				if p.gates[1].Post(&r, rop) != nil || p.gates[0].Post(&s, sop) != nil {
					t.Fatal("not started")
				}
				p.settle()
				if ok, err := r.Test(); !ok || err != nil {
					t.Fatal(ok, err)
				}
			}); n >= 1 {
				t.Errorf("%d bytes, %s: %v allocations", size, shape.name, n)
			}
		}
	}
}

func TestNewVector(t *testing.T) {
	const most = int(^uint(0) >> 1)
	for _, c := range []struct {
		base, count, block, stride int
		ok                         bool
	}{
		{0, 0, 0, 0, true}, {10, 0, 100, 100, true}, {10, 100, 0, 100, true}, {10, 1, 10, 100, true}, {10, 2, 5, 5, true},
		{10, 3, 4, 3, true}, {10, 5, 10, 0, true}, {10, 2, 5, 6, false}, {10, 1, 11, 0, false}, {10, -1, 1, 1, false},
		{10, 1, -1, 1, false}, {10, 1, 1, -1, false}, {10, most, 2, most, false}, {10, most, 2, 0, false}, {10, 2, 1, most, false},
	} {
		v, err := NewVector(make([]byte, c.base), c.count, c.block, c.stride)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil && v.Size() != c.count*c.block {
			t.Errorf("%+v: %d bytes", c, v.Size())
		}
	}
}

// TestThousandsOfParts moves a message of 8-byte parts within a bounded number of calls of the
// link: that a part costs none is what makes it as fast as copying.
func TestThousandsOfParts(t *testing.T) {
	p := newPair(simnet.Options{Large: 1 << 20}, wide)
	const size = 1 << 20
	msg, buf := pattern(size, 1), make([]byte, size)
	calls := 0
	for _, m := range []*transfer{&p.gates[0].rails[0].push, &p.gates[1].rails[0].pull} {
		call := m.call
		m.call = func(b []byte) (int, error) {
			calls++
			return call(b)
		}
	}
	s := p.gates[0].Start(&Operation{Match: Tag(1), Parts: cutBy(msg, same(8)())})
	r := p.gates[1].Start(&Operation{Kind: KindRecv, Match: Tag(1), Parts: cutBy(buf, same(9)())})
	p.settle()
	mustDone(t, s, nil)
	mustDone(t, r, nil)
	if !bytes.Equal(msg, buf) {
		t.Fatal("damaged")
	}
	if most := 4 * size / flow.BounceSize; calls > most {
		t.Errorf("%d calls of the link for %d parts: at most %d", calls, size/8, most)
	}
}

// spread is every other part of that many bytes of some memory.
func spread(size, part int) (parts [][]byte) {
	mem := make([]byte, size)
	for at := 0; at < size; at += 2 * part {
		parts = append(parts, mem[at:at+part:at+part])
	}
	return parts
}

// BenchmarkParts sends 1 MiB to and fro in parts, and packed and unpacked by hand.
func BenchmarkParts(b *testing.B) {
	const total = 1 << 20
	for _, name := range driver.Names() {
		d, err := driver.Lookup(name)
		if err != nil {
			b.Fatal(err)
		}
		for _, part := range []int{8, 64, 512, 4096, 16384, 65536} {
			out, in := spread(2*total, part), spread(2*total, part)
			flat, back := make([]byte, total), make([]byte, total)
			v, _ := NewVector(make([]byte, 2*total), total/part, part, 2*part)
			w, _ := NewVector(make([]byte, 2*total), total/part, part, 2*part)
			for _, way := range []struct {
				name string
				send func(*Gate) error
				recv func(*Gate) error
			}{
				{"parts", func(g *Gate) error { return g.Start(&Operation{Match: Tag(1), Parts: out}).Wait() }, func(g *Gate) error { return g.Start(&Operation{Kind: KindRecv, Match: Tag(1), Parts: in}).Wait() }},
				{"vector", func(g *Gate) error { return g.Start(&Operation{Match: Tag(1), Data: v}).Wait() }, func(g *Gate) error { return g.Start(&Operation{Kind: KindRecv, Match: Tag(1), Data: w}).Wait() }},
				{"by-hand", func(g *Gate) error {
					driver.Gather(flat, out)
					return g.Send(1, flat)
				}, func(g *Gate) error {
					_, err := g.Recv(1, back)
					rest := back
					for _, p := range in {
						rest = rest[copy(p, rest):]
					}
					return err
				}},
			} {
				b.Run(fmt.Sprintf("%s/%s/%d", name, way.name, part), func(b *testing.B) {
					j := newJob(b, 2, d, nil)
					defer j.close()
					var echo marcel.Semaphore
					echo.SetUninterruptible()
					zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
					if err := zero.Link(context.Background()); err != nil {
						b.Fatal(err)
					}
					b.SetBytes(total)
					b.ResetTimer()
					go func() {
						defer echo.Release()
						for range b.N {
							if err := errors.Join(way.recv(one), one.Send(2, nil)); err != nil {
								b.Error(err)
							}
						}
					}()
					for range b.N {
						if err := way.send(zero); err != nil {
							b.Fatal(err)
						}
						if _, err := zero.Recv(2, nil); err != nil {
							b.Fatal(err)
						}
					}
					echo.Acquire()
				})
			}
		}
	}
}

// TestPackSaysAll: what can be said about a send or a receive can be said of what is packed, and a
// message can be unpacked as its beginning says.
func TestPackSaysAll(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	one := p.session(1)
	q := one.NewQueue()
	var pack Pack
	pack.Copy([]byte{3}).Add([]byte("abc")).Add([]byte("the rest"))
	var s, r Request
	if err := p.gates[0].Post(&s, &Operation{Match: Tag(4), Sync: true, Parts: pack.Parts(), Priority: 3}); err != nil {
		t.Fatal(err)
	}
	p.settle()
	if over, _ := s.Test(); over {
		t.Fatal("a synchronous send is done without a receive")
	}
	head, name, rest := make([]byte, 1), make([]byte, 3), make([]byte, 8)
	var places Pack
	places.Add(head).Add(name).Add(rest)
	if err := p.gates[1].Post(&r, &Operation{Kind: KindRecv, Match: Tag(4), Queue: q, Parts: places.Parts()}); err != nil {
		t.Fatal(err)
	}
	p.settle()
	mustDone(t, &s, nil)
	if q.Pop() != &r || string(name) != "abc" || string(rest) != "the rest" {
		t.Errorf("%q, %q, or not in the queue", name, rest)
	}
	send := p.gates[0].Start(&Operation{Match: Tag(5), Parts: pack.Parts(), Sync: true})
	any := one.Start(AnySource, &Operation{Kind: KindRecv, Parts: places.Parts()})
	p.settle()
	mustDone(t, send, nil)
	mustDone(t, any, nil)
	if any.Source() != 0 || any.Tag() != 5 {
		t.Errorf("received %+v", any.Envelope())
	}
	send = p.gates[0].Start(&Operation{Match: Tag(6), Parts: pack.Parts()})
	p.settle()
	x := p.gates[1].Claim(Tag(6))
	if x == nil || x.Peek(head) != 1 || head[0] != 3 {
		t.Fatal("the beginning is not to be seen")
	}
	places.Reset()
	clear(name)
	places.Add(head).Add(name[:head[0]]).Add(rest)
	recv := x.Start(&Operation{Kind: KindRecv, Parts: places.Parts()})
	p.settle()
	mustDone(t, send, nil)
	mustDone(t, recv, nil)
	if string(name) != "abc" {
		t.Errorf("unpacked %q", name)
	}
}
