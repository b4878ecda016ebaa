package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/rma"
)

// An arena is memory of a rank that all others reach: of Alloc, of Make, and of Register. They are laid out alike:
//
//	0       lines of 64 bytes, one a rank: what it has signaled, what it has acknowledged
//	1024    words that all count with
//	4096    a well: bytes that stay, for gets
//	20480   slots, one a rank: canaries, and the block that it has put last
const (
	ackAt     = 8 // in a line
	ticketsAt = 1024
	addsAt    = 1088
	swapsAt   = 1152
	wellAt    = 4096
	wellBytes = 16 << 10
	slotsAt   = wellAt + wellBytes
	rim       = 64 // canaries that a slot has at least in front of a block, and behind it
	arenas    = 3
	addend    = 3
)

// oneSided has this rank put to memory of all ranks, get from it and count in it, and look what they do to its own.
type oneSided struct {
	*theme
	w    *rma.World
	own  [arenas][]byte
	at   [arenas][]rma.Ref // by rank
	most int               // bytes of a block
	seen []int             // by rank: blocks that have come, each written by the reader of that rank alone
	told []counts          // by rank: what this one has counted there
}

// counts are what one rank has counted at another.
type counts struct {
	Tickets             []uint64
	Tried               int // tickets
	Posted, Flushed     int // adds that were started, and that are known to be done
	Swapping, Exchanged int // exchanges that were tried, and that have succeeded
}

// block is where a block lies.
type block struct {
	arena  int
	offset uint64
	n      int
}

func (h *oneSided) slotBytes() int { return h.most + 4*rim }

func (h *oneSided) size() int { return slotsAt + h.p.Size*h.slotBytes() }

// block draws where the i-th block of a stream goes.
func (h *oneSided) block(s stream, i int) block {
	rng := rand.New(rand.NewPCG(s.key(i), 12))
	n := []int{rng.IntN(9), rng.IntN(100), rng.IntN(9 << 10), 8<<10 - 20 + rng.IntN(40), rng.IntN(h.most)}[rng.IntN(5)]
	n = min(n, h.most)
	return block{rng.IntN(arenas), uint64(slotsAt + s.from*h.slotBytes() + rim + rng.IntN(h.slotBytes()-2*rim-n+1)), n}
}

// signalOf is where a rank signals to another one that a block has come. ack: where it acknowledges.
func (h *oneSided) signalOf(from, to int, ack bool) rma.Ref {
	at := h.at[(from+to)%arenas][to].Add(int64(64 * from))
	if ack {
		at = at.Add(ackAt)
	}
	return at
}

// oneSided is the theme.
func (t *traffic) oneSided() {
	h := &oneSided{most: min(t.p.Biggest, 256<<10), seen: make([]int, t.p.Size), told: make([]counts, t.p.Size)}
	if t.p.Size > 4 {
		h.most = 64 << 10
	}
	var stop func()
	h.theme, stop = t.newTheme("rma", 1)
	defer stop()
	began := time.Now()
	w, err := rma.Open(t.s)
	failed := h.collective("open", began, err)
	if !h.agreed(0, !failed) {
		h.close(w)
		return
	}
	if h.w = w; failed {
		return
	}
	if !h.open() {
		h.close(w)
		return
	}
	var c crew
	for peer := range t.p.Size {
		c.run(func() { h.write(peer) })
		c.run(func() { h.read(peer) })
		c.run(func() { h.count(peer) })
		c.run(func() { h.drink(peer) })
	}
	c.wait()
	h.judgeCounts(gather(h.theme, 4, func(peer int) counts { return h.told[peer] }))
	h.judgeMemory()
	h.agreed(5, true)
	h.close(w)
	h.b.guard(h.own[arenas-1], "memory that was registered, after it was closed")
}

// close closes the World.
func (h *oneSided) close(w *rma.World) {
	if w == nil {
		return
	}
	began := time.Now()
	h.collective("close", began, w.Close())
}

// open gets the memory of this rank, and learns of that of the others.
func (h *oneSided) open() bool {
	began := time.Now()
	s, err := h.w.Alloc(h.size())
	failed := h.collective("alloc", began, err)
	if !h.agreed(1, !failed) || failed {
		return false
	}
	m, err := h.w.Make(h.size())
	if err != nil && !h.lacks() {
		h.b.bad("rma: Make: %v", err)
	}
	b := make([]byte, h.size())
	r, err2 := h.w.Register(b)
	if err2 != nil && !h.lacks() {
		h.b.bad("rma: Register: %v", err2)
	}
	if errors.Join(err, err2) == nil {
		h.own = [arenas][]byte{s.Bytes(), m.Bytes(), b}
		for _, memory := range h.own {
			fillCanaries(memory[slotsAt:])
			stream{h.p, h.s.Rank(), h.s.Rank(), wellTag}.fill(memory[wellAt:slotsAt], 0)
		}
	}
	if !h.agreed(2, errors.Join(err, err2) == nil) || errors.Join(err, err2) != nil {
		return false
	}
	var mine [2][]byte
	for i, at := range []rma.Ref{m.Ref(0), r.Ref(0)} {
		mine[i], _ = at.AppendBinary(nil)
	}
	refs := gather(h.theme, 3, func(int) [2][]byte { return mine })
	for rank := range h.p.Size {
		theirs := refs[rank]
		if rank == h.s.Rank() {
			theirs = &mine
		}
		h.at[0] = append(h.at[0], s.At(rank, 0))
		for i := range mine {
			at := s.At(rank, 0) // of one that is lost
			if theirs != nil {
				at, _ = rma.ParseRef(theirs[i])
			}
			h.at[1+i] = append(h.at[1+i], at)
		}
	}
	return true
}

// domain is one of those that the rank may use, for the caller alone.
func (h *oneSided) domain(rng *rand.Rand) *rma.Domain {
	which := rng.IntN(len(accesses) + 1)
	if which == len(accesses) {
		return h.w.Default()
	}
	d, err := h.w.Domain(rma.DomainConfig{Access: accesses[which]})
	if err != nil {
		h.b.bad("rma: Domain: %v", err)
		return h.w.Default()
	}
	return d
}

// write puts blocks to a rank, each of which that acknowledges.
func (h *oneSided) write(to int) {
	s := stream{h.p, h.s.Rank(), to, putTag}
	rng := s.dice(13)
	d := h.domain(rng)
	for i := range h.p.times() {
		marcel.Sleep(time.Duration(rng.Int64N(int64(h.p.Pace))))
		began := time.Now()
		what, err := h.put(d, s, i, rng)
		if err == nil {
			what, began = "wait for an acknowledgement", time.Now()
			_, err = d.WaitSignal(h.lost[to], h.signalOf(to, s.from, true), rma.GE, uint64(i+1))
		}
		if h.failed(what, to, began, err) && to == s.from {
			return // a wait for a signal ends, also for one of the own process, when all others are lost
		} else if err != nil {
			h.again("put", to, func() error {
				return d.PutSignal(h.signalOf(s.from, to, false), nil, h.signalOf(s.from, to, false), rma.SignalAdd, 0)
			})
			return
		}
		h.b.did("blocks put")
	}
}

// put puts a block and signals it, in one of the ways there are. Where it has not signaled yet it looks what is there.
func (h *oneSided) put(d *rma.Domain, s stream, i int, rng *rand.Rand) (what string, err error) {
	k, sig := h.block(s, i), h.signalOf(s.from, s.to, false)
	at := h.at[k.arena][s.to].Add(int64(k.offset))
	src := make([]byte, k.n)
	s.fill(src, i)
	whole := make([]byte, k.n+2*rim)
	fillCanaries(whole)
	copy(whole[rim:], src)
	back, from := make([]byte, len(whole)), at.Add(-rim)
	way := rng.IntN(6)
	switch way {
	case 0:
		return "put with signal", d.PutSignal(at, src, sig, rma.SignalAdd, 1)
	case 1:
		if what, err = "put", d.Put(at, src); err == nil {
			what, err = "get", d.Get(back, from)
		}
	case 2:
		var local, remote, got rma.Event
		if what, err = "put with events", d.PutNB(at, src, &local, &remote); err == nil {
			err = errors.Join(local.Wait(), remote.Wait())
		}
		if err == nil {
			if what, err = "get with an event", d.GetNB(back, from, &got); err == nil {
				err = got.Wait()
			}
		}
	case 3:
		if what, err = "put and flush", errors.Join(d.PutNBI(at, src), d.Flush(s.to)); err == nil {
			what, err = "get and flush", errors.Join(d.GetNBI(back, from), d.Flush(s.to))
		}
	case 4:
		what, err = "put and fence", errors.Join(d.PutNBI(at, src), d.Fence())
	default:
		half := rng.IntN(k.n + 1)
		what, err = "two puts and fence", errors.Join(d.PutNBI(at.Add(int64(half)), src[half:]), d.PutNBI(at, src[:half]), d.Fence())
	}
	if err != nil {
		_ = d.FlushAll() // what has failed is not told again
		return what, err
	}
	if x := differs(back, whole); x >= 0 && way < 4 {
		h.b.bad("rma, %v, block %d, %v, way %d: byte %d of what is got back, from %d B in front of it on, is %#x, want %#x", s, i, k, way, x, rim, back[x], whole[x])
	}
	if rng.IntN(2) == 0 {
		return "signal", d.PutSignal(sig, nil, sig, rma.SignalSet, uint64(i+1))
	}
	return "signal", d.PutSignal(sig, nil, sig, rma.SignalAdd, 1)
}

// read waits for the blocks of a rank, looks at them, takes them away, and acknowledges them.
func (h *oneSided) read(from int) {
	s := stream{h.p, from, h.s.Rank(), putTag}
	rng := s.dice(14)
	d := h.domain(rng)
	sig, ack := h.signalOf(from, s.to, false), h.signalOf(s.to, from, true)
	for i := range h.p.times() {
		began := time.Now()
		word, err := d.WaitSignal(h.lost[from], sig, rma.GE, uint64(i+1))
		if h.failed("wait for a block", from, began, err) {
			return
		}
		if word != uint64(i+1) {
			h.b.bad("rma, %v: the signal of block %d is %d", s, i, word)
		}
		h.look(s, i, false)
		h.seen[from] = i + 1
		began = time.Now()
		if h.failed("acknowledge", from, began, d.PutSignal(ack, nil, ack, rma.SignalAdd, 1)) {
			return
		}
		h.b.did("blocks found right")
	}
}

// look looks at the slots that a rank puts to, when its i-th block is there, or, if that is lost with the rank, a part
// of it. It leaves canaries.
func (h *oneSided) look(s stream, i int, part bool) {
	k := h.block(s, i)
	want := make([]byte, k.n)
	s.fill(want, i)
	for arena, b := range h.own {
		slot := b[slotsAt+s.from*h.slotBytes():][:h.slotBytes()]
		at := int(k.offset) - slotsAt - s.from*h.slotBytes()
		if arena != k.arena {
			at = len(slot)
		}
		n := min(k.n, len(slot)-at)
		got := slot[at:][:n]
		for x := range got {
			if got[x] != want[x] && !(part && got[x] == canaryByte) {
				h.b.bad("rma, %v: byte %d of block %d, of %d B at %d of arena %d, is %#x, want %#x", s, x, i, k.n, k.offset, arena, got[x], want[x])
				break
			}
		}
		for what, side := range map[string][]byte{"in front of": slot[:at], "behind": slot[at+n:]} {
			if wrong := guarded(side); wrong != "" {
				h.b.bad("rma, %v: %s block %d, %v, something was written in arena %d: %s", s, what, i, k, arena, wrong)
			}
		}
		fillCanaries(slot)
	}
}

// count counts at a rank: it draws tickets, adds, and exchanges.
func (h *oneSided) count(to int) {
	rng := stream{h.p, h.s.Rank(), to, putTag}.dice(15)
	d := h.domain(rng)
	at, c := h.at[rng.IntN(arenas)][to], &h.told[to]
	word := func(offset int64) rma.Ref { return h.at[int(offset/64)%arenas][to].Add(offset) }
	last := -1
	for range 2 * h.p.times() {
		marcel.Sleep(time.Duration(rng.Int64N(int64(h.p.Pace))) / 2)
		began := time.Now()
		c.Tried++
		ticket, err := rma.Fetch(d, rma.Add, word(ticketsAt), uint64(1))
		if h.failed("fetch", to, began, err) {
			break
		}
		c.Tickets = append(c.Tickets, ticket)
		if int64(ticket) <= int64(last) {
			h.b.bad("rma: ticket %d of rank %d comes after ticket %d", ticket, to, last)
		}
		last = int(ticket)
		for range rng.IntN(4) {
			began = time.Now()
			c.Posted++
			if h.failed("post", to, began, rma.UpdateNBI(d, rma.Add, word(addsAt), uint64(addend))) {
				_ = d.Flush(to)
				return
			}
		}
		began = time.Now()
		if h.failed("flush", to, began, d.Flush(to)) {
			return
		}
		c.Flushed = c.Posted
		began = time.Now()
		old, err := rma.Load[uint32](d, word(swapsAt))
		for err == nil {
			c.Swapping++
			var was uint32
			if was, err = rma.CompareAndSwap(d, word(swapsAt), old, old+1); err == nil && was == old {
				c.Exchanged++
				break
			}
			old = was
		}
		if h.failed("exchange", to, began, err) {
			return
		}
		h.b.did("counted")
	}
	if h.isLost(to) {
		h.again("load", to, func() error { _, err := rma.Load[uint64](d, at); return err })
	}
}

// drink gets bytes that stay.
func (h *oneSided) drink(from int) {
	rng := stream{h.p, from, h.s.Rank(), wellTag}.dice(16)
	d := h.domain(rng)
	well := make([]byte, wellBytes)
	stream{h.p, from, from, wellTag}.fill(well, 0)
	for range 2 * h.p.times() {
		marcel.Sleep(time.Duration(rng.Int64N(int64(h.p.Pace))) / 2)
		n := []int{rng.IntN(64), rng.IntN(wellBytes)}[rng.IntN(2)]
		at, buf := rng.IntN(wellBytes-n), make([]byte, n)
		began := time.Now()
		ref := h.at[rng.IntN(arenas)][from].Add(int64(wellAt + at))
		if h.failed("get", from, began, d.Get(buf, ref)) {
			return
		}
		if x := differs(buf, well[at:at+n]); x >= 0 {
			h.b.bad("rma: byte %d of %d at %d of the well of rank %d is %#x, want %#x", x, n, at, from, buf[x], well[at+x])
		}
	}
}

// judgeCounts holds the words of this rank against what the others say that they have counted: of those that are lost
// any part may have come.
func (h *oneSided) judgeCounts(told []*counts) {
	told[h.s.Rank()] = &h.told[h.s.Rank()]
	var all counts
	dead, whose := 0, map[uint64]int{}
	for rank, c := range told {
		if c == nil {
			dead++
			continue
		}
		for _, ticket := range c.Tickets {
			if other, twice := whose[ticket]; twice {
				h.b.bad("rma: ticket %d was given to rank %d and to rank %d", ticket, other, rank)
			}
			whose[ticket] = rank
		}
		all.Tried += c.Tried
		all.Posted += c.Posted
		all.Flushed += c.Flushed
		all.Swapping += c.Swapping
		all.Exchanged += c.Exchanged
	}
	budget := 2 * h.p.times() * dead
	word := func(offset int64) uint64 {
		v, err := rma.Load[uint64](h.w.Default(), h.at[int(offset/64)%arenas][h.s.Rank()].Add(offset))
		if err != nil {
			h.b.bad("rma: load a word of the own: %v", err)
		}
		return v
	}
	between := func(what string, v uint64, least, most int) {
		if v < uint64(least) || v > uint64(most) {
			h.b.bad("rma: %s come to %d, want %d to %d; %d ranks are lost", what, v, least, most, dead)
		}
	}
	final := word(ticketsAt)
	between("tickets", final, len(whose), all.Tried+budget)
	for ticket, rank := range whose {
		if ticket >= final {
			h.b.bad("rma: rank %d has ticket %d of %d", rank, ticket, final)
		}
	}
	adds := word(addsAt)
	between("adds", adds, addend*all.Flushed, addend*(all.Posted+3*budget))
	if adds%addend != 0 {
		h.b.bad("rma: adds of %d come to %d", addend, adds)
	}
	between("exchanges", word(swapsAt), all.Exchanged, all.Exchanged+budget+h.lostExchanges(told))
}

// lostExchanges is how many exchanges may have succeeded of which the rank has not heard: one a rank that has lost this
// one.
func (h *oneSided) lostExchanges(told []*counts) (n int) {
	for _, c := range told {
		if c != nil && c.Exchanged < 2*h.p.times() {
			n++
		}
	}
	return n
}

// judgeMemory looks at all memory of this rank when nothing more is to come, but from a rank that is lost.
func (h *oneSided) judgeMemory() {
	well := make([]byte, wellBytes)
	stream{h.p, h.s.Rank(), h.s.Rank(), wellTag}.fill(well, 0)
	for arena, b := range h.own {
		if x := differs(b[wellAt:slotsAt], well); x >= 0 {
			h.b.bad("rma: byte %d of the well of arena %d was written", x, arena)
		}
		for x, c := range b[swapsAt+64 : wellAt] {
			if c != 0 {
				h.b.bad("rma: byte %d of arena %d was written: %#x", swapsAt+64+x, arena, c)
				break
			}
		}
	}
	for from, n := range h.seen {
		s := stream{h.p, from, h.s.Rank(), putTag}
		if n < h.p.times() {
			h.look(s, n, true)
			continue
		}
		for arena, b := range h.own {
			if wrong := guarded(b[slotsAt+from*h.slotBytes():][:h.slotBytes()]); wrong != "" {
				h.b.bad("rma, %v: something was written in arena %d after the last block: %s", s, arena, wrong)
			}
		}
	}
}

// String says where a block is.
func (k block) String() string {
	return fmt.Sprintf("%d B at %d of arena %d", k.n, k.offset, k.arena)
}
