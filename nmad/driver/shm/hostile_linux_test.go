package shm

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// tiny has rings that every few messages wrap around.
var tiny = geometry{cells: 4, maxBody: 200, bodies: 1024, slots: 2, slotSize: 192}

// exposed lets l make and take offers. It reads where it is told to, in our own
// memory, but writes nowhere: that would harm the test.
func exposed(l *link) {
	l.setPeer(ourselves(), longPaths{policy: copySingle, minOffer: 100})
	l.writer.PID = noProcess
}

// drive calls everything that reads what the peer wrote, and checks what must
// hold whatever that was. It gives the first error that is a violation.
func drive(t testing.TB, l *link, g geometry, rounds int) (violation error) {
	t.Helper()
	note := func(err error) {
		switch {
		case err == nil:
		case errors.Is(err, driver.ErrProtocol):
			violation = err
		default:
			t.Fatalf("neither success nor a violation: %v", err)
		}
	}
	body := make([]byte, g.maxBody)
	large := make([]byte, 3*g.slotSize)
	sum := byte(0)
	for i := range rounds {
		var h driver.Header
		got, ok, err := l.Recv(&h)
		note(err)
		if ok && (len(got) != int(h.Body) || h.Body > g.maxBody) {
			t.Fatalf("a body of %d bytes, header says %d, at most %d", len(got), h.Body, g.maxBody)
		}
		for _, v := range got {
			sum += v // touches every byte
		}
		n, err := l.Pull(large[:1+i%len(large)])
		note(err)
		if n < 0 || n > 1+i%len(large) {
			t.Fatalf("Pull says %d", n)
		}
		h = driver.Header{Body: uint32(i % (len(body) + 1))}
		_, err = l.Send(&h, body[:h.Body], nil, false)
		note(err)
		_, err = l.Push(large)
		note(err)
		l.Arm(i%2 == 0)
		l.Disarm()
	}
	_ = sum
	return violation
}

// TestHostilePeer scribbles random bytes over the whole segment, all the time,
// while this side uses the link: errors, but no panic, no access out of
// bounds (guard bytes around the segment would change), no endless loop.
func TestHostilePeer(t *testing.T) {
	for _, g := range []geometry{tiny, standard} {
		const guard = 4096
		arena := aligned(g.size() + 2*guard)
		mem := arena[guard : guard+g.size()]
		outside := func(do func(b []byte)) { do(arena[:guard]); do(arena[guard+g.size():]) }
		outside(func(b []byte) {
			for i := range b {
				b[i] = 0x5A
			}
		})
		rng := rand.New(rand.NewPCG(1, uint64(g.cells)))
		violations := 0
		for range 300 {
			a, b, err := heapLinks(mem, g)
			if err != nil {
				t.Fatal(err)
			}
			exposed(a)
			for range 20 {
				// Plain random bytes seldom look like a packet; so also take whole
				// valid-looking words with a hostile length.
				for range 1 + rng.IntN(200) {
					binary.LittleEndian.PutUint64(mem[rng.IntN(len(mem)/8)*8:], rng.Uint64())
				}
				for d := range 2 {
					l := g.direction(d)
					c := l.cells + uint64(rng.IntN(int(g.cells)))*cellSize
					h := driver.Header{Kind: 1, Body: rng.Uint32() >> rng.IntN(32)}
					binary.LittleEndian.PutUint64(mem[c:], h.Word(0x8000|uint16(rng.IntN(3))))
					w := l.words + uint64(rng.IntN(int(g.slots)))*padding
					binary.LittleEndian.PutUint64(mem[w:], (1<<31|rng.Uint64N(3))<<32|uint64(rng.Uint32()>>rng.IntN(32)))
					// Offers, shares and claims that look like some, too.
					if rng.IntN(3) == 0 {
						binary.LittleEndian.PutUint64(mem[w:], (1<<31|rng.Uint64N(3))<<32|offerMark)
						binary.LittleEndian.PutUint64(mem[w+8:], process.AddressOf(mem)+rng.Uint64N(g.size()))
						binary.LittleEndian.PutUint64(mem[w+16:], rng.Uint64()>>rng.IntN(64))
						binary.LittleEndian.PutUint64(mem[w+24:], rng.Uint64N(3)<<32|rng.Uint64N(1<<17))
						binary.LittleEndian.PutUint64(mem[l.share:], uint64(newClaims(uint32(rng.IntN(3)), rng.IntN(5))))
						binary.LittleEndian.PutUint64(mem[l.share+24:], rng.Uint64N(3000))
						binary.LittleEndian.PutUint64(mem[l.share+32:], rng.Uint64N(3000))
						binary.LittleEndian.PutUint64(mem[l.slotCredit+16:], rng.Uint64N(2)<<63|rng.Uint64N(600))
					}
				}
				if drive(t, a, g, 5) != nil {
					violations++
				}
			}
			_, _ = b.Close(), a.Close()
		}
		outside(func(b []byte) {
			for i, v := range b {
				if v != 0x5A {
					t.Fatalf("byte %d outside of the segment was written", i)
				}
			}
		})
		if violations == 0 {
			t.Error("no violation was ever noticed")
		}
		t.Logf("%+v: %d violations noticed", g, violations)
	}
}

// TestHostileWhilePolling is the same with the scribbler at work at the same
// time, through a mapping of its own.
func TestHostileWhilePolling(t *testing.T) {
	for range 20 {
		p, err := createParts(tiny, nowhere)
		if err != nil {
			t.Fatal(err)
		}
		other, err := mapped.Map(p.segment, tiny.size(), true)
		if err != nil {
			t.Fatal(err)
		}
		a, b, err := heapLinks(p.mem.Bytes(), tiny)
		if err != nil {
			t.Fatal(err)
		}
		exposed(a)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(3, 4))
			for {
				select {
				case <-stop:
					return
				default:
				}
				for range 50 {
					i := rng.IntN(len(other.Bytes()) / 8)
					v := rng.Uint64()
					if rng.IntN(2) == 0 {
						v = (&driver.Header{Body: rng.Uint32() >> rng.IntN(32)}).Word(0x8000 | uint16(v&3))
					}
					binary.LittleEndian.PutUint64(other.Bytes()[i*8:], v)
				}
			}
		}()
		for end := time.Now().Add(10 * time.Millisecond); time.Now().Before(end); {
			drive(t, a, tiny, 10)
		}
		close(stop)
		wg.Wait()
		_, _ = b.Close(), a.Close()
		_ = other.Vacate()
		p.close()
	}
}

// TestViolations names each lie and expects it to be caught, for good.
func TestViolations(t *testing.T) {
	g := tiny
	out, in := g.direction(0), g.direction(1)
	put := binary.LittleEndian.PutUint64
	full := func(t *testing.T, l *link) {
		for range g.cells {
			if ok, err := l.Send(&driver.Header{Body: 100}, make([]byte, 100), nil, false); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
	}
	fullLarge := func(t *testing.T, l *link) {
		if n, err := l.Push(make([]byte, g.slots*g.slotSize)); n != int(g.slots*g.slotSize) || err != nil {
			t.Fatal(n, err)
		}
	}
	send := func(l *link) error { _, err := l.Send(&driver.Header{}, nil, nil, false); return err }
	recv := func(l *link) error { _, _, err := l.Recv(&driver.Header{}); return err }
	push := func(l *link) error { _, err := l.Push([]byte{1}); return err }
	pull := func(l *link) error { _, err := l.Pull(make([]byte, 1)); return err }
	for _, c := range []struct {
		name    string
		prepare func(*testing.T, *link)
		lie     func(mem []byte)
		notice  func(*link) error
	}{
		{"body longer than allowed", nil, func(m []byte) { put(m[in.cells:], (&driver.Header{Body: g.maxBody + 1}).Word(0x8000)) }, recv},
		{"body of 4 GiB", nil, func(m []byte) { put(m[in.cells:], (&driver.Header{Body: 1<<32 - 1}).Word(0x8000)) }, recv},
		{"empty slot", nil, func(m []byte) { put(m[in.words:], 1<<63) }, pull},
		{"slot longer than allowed", nil, func(m []byte) { put(m[in.words:], 1<<63|uint64(g.slotSize+1)) }, pull},
		{"credit beyond what was sent", full, func(m []byte) { put(m[out.credit:], uint64(g.cells)+1) }, send},
		{"credit gone back", full, func(m []byte) { put(m[out.credit:], 1<<64-1) }, send},
		{"byte credit beyond what was sent", full, func(m []byte) { put(m[out.credit+8:], 1<<40) }, send},
		{"slot credit beyond what was sent", fullLarge, func(m []byte) { put(m[out.slotCredit:], uint64(g.slots)+1) }, push},
		{"slot credit gone back", fullLarge, func(m []byte) { put(m[out.slotCredit:], 1<<64-1) }, push},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := heapSegment(g)
			a, b, err := heapLinks(mem, g)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			defer a.Close()
			if c.prepare != nil {
				c.prepare(t, a)
			}
			if err := c.notice(a); err != nil {
				t.Fatalf("before the lie: %v", err)
			}
			c.lie(mem)
			first := c.notice(a)
			if !errors.Is(first, driver.ErrProtocol) {
				t.Fatalf("the lie went through: %v", first)
			}
			t.Log(first)
			for _, call := range []func(*link) error{send, recv, push, pull} {
				if err := call(a); !errors.Is(err, driver.ErrProtocol) || err.Error() != first.Error() {
					t.Errorf("later: %v", err)
				}
			}
			if a.Arm(false) {
				t.Error("a broken link can be armed")
			}
		})
	}
}

// FuzzSegment lets the fuzzer choose what is written, and when.
func FuzzSegment(f *testing.F) {
	mem := heapSegment(tiny)
	f.Add([]byte{0, 0, 1, 2, 3, 4, 5, 6, 7, 8})
	word := (&driver.Header{Kind: 3, Body: 100}).Word(0x8000)
	at := tiny.direction(1).cells / 8
	f.Add(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(nil, uint16(at)), word))
	f.Add(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(nil, uint16(tiny.direction(1).words/8)), 1<<63|100))
	var offer []byte
	for i, v := range []uint64{process.AddressOf(mem), 300, 0} {
		offer = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(offer, uint16(tiny.direction(1).words/8+1+uint64(i))), v)
	}
	f.Add(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(offer, uint16(tiny.direction(1).words/8)), 1<<63|offerMark))
	f.Fuzz(func(t *testing.T, script []byte) {
		clear(mem)
		a, b, err := heapLinks(mem, tiny)
		if err != nil {
			t.Skip(err)
		}
		defer a.Close()
		defer b.Close()
		exposed(a)
		for ; len(script) >= 10; script = script[10:] {
			i := uint64(binary.LittleEndian.Uint16(script)) * 8 % uint64(len(mem))
			copy(mem[i:], script[2:10])
			drive(t, a, tiny, 2)
		}
	})
}

// FuzzGeometry: whatever a peer proposes either is refused or can be mapped
// and used.
func FuzzGeometry(f *testing.F) {
	f.Add(standard.encode())
	f.Add(tiny.encode())
	f.Add(make([]byte, geometrySize))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < geometrySize {
			return
		}
		var g geometry
		g.decode(b)
		if g.check() != nil || g.size() > 1<<22 {
			return
		}
		mem := heapSegment(g)
		for d := range 2 {
			r, err := view(mem, g, d)
			if err != nil {
				t.Fatalf("%+v: %v", g, err)
			}
			if len(r.cells) != int(g.cells) || len(r.words) != int(g.slots) || len(r.bodies) != int(g.bodies) || len(r.slots) != int(g.slots*g.slotSize) {
				t.Fatalf("%+v: %d cells, %d words, %d, %d bytes", g, len(r.cells), len(r.words), len(r.bodies), len(r.slots))
			}
		}
		if _, err := view(mem[:len(mem)-1], g, 1); err == nil {
			t.Fatal("a segment that is too short has a view")
		}
	})
}

// TestSegmentChecks: what a peer passes for a segment is refused unless nothing
// can go wrong with it later.
func TestSegmentChecks(t *testing.T) {
	memfd := func(size int64, flags, seals int) int {
		fd, err := unix.MemfdCreate("pm2-test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|flags)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		if err := unix.Ftruncate(fd, size); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
			t.Fatal(err)
		}
		return fd
	}
	size := int64(tiny.size())
	pipe := make([]int, 2)
	if err := unix.Pipe2(pipe, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	for _, c := range []struct {
		name string
		fd   int
		ok   bool
	}{
		{"as it should be", memfd(size, 0, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW), true},
		{"fully sealed", memfd(size, 0, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL), true},
		{"not sealed", memfd(size, 0, 0), false},
		{"may shrink", memfd(size, 0, unix.F_SEAL_GROW), false},
		{"may grow", memfd(size, 0, unix.F_SEAL_SHRINK), false},
		{"too short", memfd(size-4096, 0, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW), false},
		{"too long", memfd(size+4096, 0, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW), false},
		{"a pipe", pipe[0], false},
		{"closed", 1 << 20, false},
	} {
		if err := checkSegment(c.fd, tiny); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
