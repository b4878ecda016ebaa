package shm

import (
	"bytes"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

func TestLayout(t *testing.T) {
	for name, c := range map[string]struct{ got, want uintptr }{
		"cell":                {unsafe.Sizeof(cell{}), cellSize},
		"body in a cell":      {unsafe.Offsetof(cell{}.body), driver.HeaderSize},
		"flags":               {unsafe.Sizeof(flags{}), padding},
		"credit":              {unsafe.Sizeof(credit{}), padding},
		"credit of slots":     {unsafe.Sizeof(slotCredit{}), padding},
		"ready word":          {unsafe.Sizeof(slotWord{}), padding},
		"header in wire form": {driver.HeaderSize, 32},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d bytes, should be %d", name, c.got, c.want)
		}
	}
	for _, g := range []geometry{standard, crowded, tiny} {
		if err := g.check(); err != nil {
			t.Errorf("%+v: %v", g, err)
		}
		end := uint64(2 * padding)
		for d := range 2 {
			l := g.direction(d)
			for _, part := range []struct{ at, size, align uint64 }{
				{l.credit, padding, padding}, {l.slotCredit, padding, padding}, {l.cells, uint64(g.cells) * cellSize, padding},
				{l.words, uint64(g.slots) * padding, padding}, {l.bodies, uint64(g.bodies), pageSize},
				{l.slots, uint64(g.slots) * uint64(g.slotSize), padding},
			} {
				if part.at < end || part.at%part.align != 0 {
					t.Errorf("%+v, direction %d: a part at %d overlaps what ends at %d, or is not aligned to %d", g, d, part.at, end, part.align)
				}
				end = part.at + part.size
			}
		}
		if g.size() < end {
			t.Errorf("%+v: %d bytes, parts end at %d", g, g.size(), end)
		}
	}
}

// pairOf gives two linked sides over visible memory.
func pairOf(t *testing.T, g geometry) (mem []byte, a, b *link) {
	t.Helper()
	mem = heapSegment(g)
	a, b, err := heapLinks(mem, g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return mem, a, b
}

// TestOneLine: a packet whose body fits changes one cache line of the segment,
// and receiving it none.
func TestOneLine(t *testing.T) {
	mem, a, b := pairOf(t, standard)
	before := bytes.Clone(mem)
	changed := func() map[int]bool {
		lines := map[int]bool{}
		for i := range mem {
			if mem[i] != before[i] {
				lines[i/lineSize] = true
			}
		}
		copy(before, mem)
		return lines
	}
	var h driver.Header
	for n := range inline + 1 {
		body := bytes.Repeat([]byte{0xEE}, n)
		h = driver.Header{Kind: 1, Flags: 2, Body: uint32(n), Tag: 3, Size: 4, Cookie: 5, Seq: 6}
		if ok, err := a.Send(&h, body, nil, false); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if lines := changed(); len(lines) != 1 {
			t.Errorf("sending %d bytes changed %d lines", n, len(lines))
		}
		if n >= int(standard.cells)/4 {
			break // here the receiver tells how far it is
		}
		var got driver.Header
		if body, ok, err := b.Recv(&got); !ok || err != nil || got != h || len(body) != n {
			t.Fatal(got, ok, err)
		}
		if lines := changed(); len(lines) != 0 {
			t.Errorf("receiving %d bytes changed %d lines", n, len(lines))
		}
	}
}

// TestNoBellWhileAwake: the doorbell is a system call, and rings only for those
// those that sleep, once.
func TestNoBellWhileAwake(t *testing.T) {
	_, a, b := pairOf(t, tiny)
	rang := func() bool {
		fds := []unix.PollFd{{Fd: int32(b.Descriptor()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		return err == nil && n == 1
	}
	var h driver.Header
	send := func() {
		t.Helper()
		if ok, err := a.Send(&driver.Header{}, nil, nil, false); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	recv := func() {
		t.Helper()
		if _, ok, err := b.Recv(&h); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	for range 20 {
		send()
		if rang() {
			t.Fatal("the bell rang for a side that is awake")
		}
		recv()
		if _, ok, err := b.Recv(&h); ok || err != nil {
			t.Fatal(ok, err)
		}
		if !b.Arm(false) {
			t.Fatal("cannot be armed though nothing is there")
		}
		if rang() {
			t.Fatal("the bell rang for nothing")
		}
		send()
		if !rang() {
			t.Fatal("the bell did not ring")
		}
		if b.peerFlags.sleeping.Load() != 0 || b.ownFlags.sleeping.Load() != 0 {
			t.Fatal("the side that rang did not take the flag")
		}
		b.Disarm()
		if rang() {
			t.Fatal("Disarm did not empty the bell")
		}
		if b.Arm(false) {
			t.Fatal("can be armed though something is there")
		}
		if rang() {
			t.Fatal("a refused Arm left the bell readable")
		}
		recv()
	}
}

// TestGlances: polls that find nothing look at the socket every few
// milliseconds, not each time.
func TestGlances(t *testing.T) {
	_, _, b := pairOf(t, tiny)
	var h driver.Header
	glances, last := 0, b.lastPeerCheck.Load()
	start := time.Now()
	const polls = 300_000
	for range polls {
		if _, ok, err := b.Recv(&h); ok || err != nil {
			t.Fatal(ok, err)
		}
		if now := b.lastPeerCheck.Load(); now != last {
			glances++
			last = now
		}
	}
	if most := int(time.Since(start)/peerCheckEvery) + 2; glances > most || glances == 0 {
		t.Errorf("%d looks at the socket in %d polls and %v, should be 1 to %d", glances, polls, time.Since(start), most)
	}
	if d := asm.Nanos(b.interval); d < int64(peerCheckEvery)*9/10 || d > int64(peerCheckEvery)*11/10 {
		t.Errorf("the interval is %d ns, should be %d", d, peerCheckEvery)
	}
}

// TestPositionsWrap starts where laps and positions come round to zero.
func TestPositionsWrap(t *testing.T) {
	for name, start := range map[string]uint64{
		"lap of a cell": 1<<15*uint64(tiny.cells) - 10, "lap of a slot": 1<<31*uint64(tiny.slots) - 10,
		"position": 1<<64 - 40,
	} {
		t.Run(name, func(t *testing.T) {
			mem, a, b := pairOf(t, tiny)
			cells, bytesAt := start, start&^(lineSize-1)
			a.smallTx.tail, a.smallTx.freeCells, b.smallRx.head, b.smallRx.toldCells = cells, cells, cells, cells
			a.smallTx.bytes, a.smallTx.freeBytes, b.smallRx.bytes, b.smallRx.toldBytes = bytesAt, bytesAt, bytesAt, bytesAt
			a.largeTx.tail, a.largeTx.free, b.largeRx.head = start, start, start
			b.smallRx.credit.cells.publish(cells)
			b.smallRx.credit.bytes.Store(bytesAt)
			b.largeRx.slotCredit.slots.publish(start)
			// What the turn before would have left.
			for i := range a.smallTx.cells {
				p := start - uint64(i) - 1
				a.smallTx.cells[p%uint64(tiny.cells)].ready.publish((&driver.Header{}).Word(lap(p, a.smallTx.shift)))
			}
			for i := range a.largeTx.words {
				p := start - uint64(i) - 1
				a.largeTx.words[p%uint64(tiny.slots)].ready.publish(slotLap(p, a.largeTx.shift)<<32 | 1)
			}
			_ = mem
			if err := wrapAround(a, b); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// wrapAround sends through both tracks, filling them each time, and arms with
// and without reason.
func wrapAround(a, b *link) error {
	var h driver.Header
	body := make([]byte, tiny.maxBody)
	seq, got := 0, 0
	for turn := range 60 {
		for {
			n := (seq * 37) % len(body)
			fillWith(body[:n], seq)
			h = driver.Header{Body: uint32(n), Seq: uint32(seq)}
			ok, err := a.Send(&h, body[:n], nil, false)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			seq++
		}
		if !a.Arm(true) {
			return fmt.Errorf("turn %d: refused, and yet there is room", turn)
		}
		a.Disarm()
		for {
			in, ok, err := b.Recv(&h)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			n := (got * 37) % len(body)
			fillWith(body[:n], got)
			if h.Seq != uint32(got) || !bytes.Equal(in, body[:n]) {
				return fmt.Errorf("turn %d: packet %d is %+v", turn, got, h)
			}
			got++
		}
		if got != seq {
			return fmt.Errorf("turn %d: %d packets sent, %d received", turn, seq, got)
		}
		if a.Arm(true) {
			return fmt.Errorf("turn %d: there is room, and Arm does not see it", turn)
		}
		// A stream in pieces that do not fit the slots.
		large := make([]byte, 1000)
		fillWith(large, turn)
		in := make([]byte, 0, 1000)
		for out := large; len(in) < 1000; {
			n, err := a.Push(out)
			if err != nil {
				return err
			}
			out = out[n:]
			k := len(in)
			if n, err = b.Pull(in[k:min(k+177, 1000)]); err != nil {
				return err
			}
			in = in[:k+n]
		}
		if !bytes.Equal(in, large) {
			return fmt.Errorf("turn %d: the stream arrives changed", turn)
		}
	}
	return nil
}

func fillWith(b []byte, n int) {
	for i := range b {
		b[i] = byte(n*7 + i)
	}
}

// TestClosedMemory: Close gives the memory back at once, and what others of
// this process are still doing with it does no harm.
func TestClosedMemory(t *testing.T) {
	p, err := createParts(tiny, nowhere)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	m := p.mem.Bytes()
	m[100] = 7
	if err := p.mem.Vacate(); err != nil {
		t.Fatal(err)
	}
	if m[100] != 0 {
		t.Error("the old content is still there")
	}
	m[100] = 9
	other, err := mapped.Map(p.segment, tiny.size(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Vacate()
	if other.Bytes()[100] != 7 {
		t.Errorf("the segment holds %d: what was written after Close went into it", other.Bytes()[100])
	}
}
