package rma

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad"
)

// Domain is a way to the memory of other processes. It reaches all memory of every process. Its Access says which
// threads may use it. Operations on memory that is mapped share no counter, no pool and no lock with the other Domains
// of the World. Those that go by messages share three things with them, for each process: the bound on operations under
// way, the numbers of operations, and the lock under which the first use of a memory asks where it is.
type Domain struct {
	w      *World
	peers  []peer // those of w
	owner  uint64 // asm.GoID of the only caller, of a Private one; 0: any thread
	access nmad.Access

	_          [64]byte
	byMessages atomic.Pointer[domainMessages] // made for the first operation that goes by messages; nil: none has
	_          [64]byte
	fence      atomic.Uint64 // Fence and Flush add to it: a full fence; its value is not read
	_          [64]byte
}

// DomainConfig says what a Domain is to be like. The zero value is right for most.
type DomainConfig struct {
	// Access says which threads may use it: nmad.Shared, the default, any; nmad.Serialized any, one at a time, which
	// the program sees to; nmad.Private the thread or goroutine that opens it, and calls of others fail with
	// nmad.ErrOwner.
	Access nmad.Access
}

// Domain opens a Domain; a program has one for each thread that is not to share locks with others. It does not block,
// and needs no other process. There is nothing to close. ErrClosed; nmad.ErrConfig for another Access than those of
// DomainConfig.
func (w *World) Domain(cfg DomainConfig) (*Domain, error) {
	if w.closed.Load() {
		return nil, fmt.Errorf("rma: open a domain: %w", ErrClosed)
	}
	switch cfg.Access {
	case nmad.Shared, nmad.Serialized, nmad.Private:
		return w.newDomain(cfg.Access), nil
	}
	return nil, fmt.Errorf("rma: open a domain: %w: access %v: give nmad.Shared, nmad.Serialized or nmad.Private", nmad.ErrConfig, cfg.Access)
}

// newDomain makes a Domain with that access. The caller owns a Private one.
func (w *World) newDomain(kind nmad.Access) *Domain {
	d := &Domain{w: w, peers: w.peers, access: kind}
	if kind == nmad.Private {
		d.owner = asm.GoID()
	}
	return d
}

// World returns the World of the Domain.
func (d *Domain) World() *World { return d.w }

// Access returns which threads may use the Domain.
func (d *Domain) Access() nmad.Access { return d.access }

// reach returns the memory at a Ref if it is mapped here, has all n bytes, and the caller may use it; nil: plan says
// what is wrong, or which other way there is. It takes no lock, and writes nothing.
func (d *Domain) reach(at Ref, n uint64) *region {
	if d == nil || d.owner != 0 && d.owner != asm.GoID() || uint64(at.rank) >= uint64(len(d.peers)) {
		return nil
	}
	p := &d.peers[at.rank]
	t := p.table.Load()
	if t == nil || uint64(at.index) >= uint64(len(*t)) {
		return nil
	}
	r := (*t)[at.index].Load()
	if r == nil || r.key != at.key || r.base == nil || !r.reaches(at.offset, n) || r.stale() || p.lost.Load() != nil {
		return nil
	}
	return r
}

// plan is reach for all cases: it returns the memory, or the error of the access. If the memory has no base it is not
// mapped here, and the access goes another way. plan waits for an answer of the target when memory of that is used for
// the first time.
func (d *Domain) plan(try attempt) (*region, error) {
	if err := d.allowed(try); err != nil {
		return nil, err
	}
	if d.w.closed.Load() {
		return nil, try.fails(ErrClosed)
	}
	if uint64(try.at.rank) >= uint64(len(d.peers)) {
		return nil, try.fails(fmt.Errorf("%w: the job has 0 to %d", nmad.ErrRank, len(d.peers)-1))
	}
	p := &d.peers[try.at.rank]
	if why := p.lost.Load(); why != nil {
		return nil, try.fails(*why)
	}
	r := p.find(try.at.index)
	if r == nil || r.key != try.at.key {
		if int(try.at.rank) == d.w.rank {
			return nil, try.refusal(statusKey, 0)
		}
		var err error
		if r, err = d.learn(try); err != nil {
			return nil, err
		}
	}
	if r.stale() {
		return nil, try.refusal(statusKey, 0)
	}
	if !r.reaches(try.at.offset, try.n) {
		return nil, try.refusal(statusRange, r.size)
	}
	return r, nil
}

// allowed returns an error if there is no Domain, or the caller must not use it.
func (d *Domain) allowed(try attempt) error {
	if d == nil || d.w == nil {
		return try.fails(fmt.Errorf("%w: no domain: World.Default gives one", nmad.ErrConfig))
	}
	if d.owner != 0 && d.owner != asm.GoID() {
		return try.fails(fmt.Errorf("%w: goroutine %d has opened this private domain, goroutine %d uses it", nmad.ErrOwner, d.owner, asm.GoID()))
	}
	return nil
}

// Put writes src to dst, and returns when it is remotely complete: a process that sees what this thread sends, signals,
// or stores atomically afterwards sees the bytes, too. src may be of any length, at any alignment. Where dst is mapped
// (memory of this process, or of the host), Put is one copy by this core, and does not block; else it blocks the
// calling thread only. src must not overlap dst.
func (d *Domain) Put(dst Ref, src []byte) error {
	if r := d.reach(dst, uint64(len(src))); r != nil {
		copyIn(r, dst.offset, src)
		return nil
	}
	return d.put(dst, src)
}

// put is Put where dst is not mapped, or something is wrong.
func (d *Domain) put(dst Ref, src []byte) error {
	return d.move(attempt{"put", dst, uint64(len(src))}, askPut, src, nil, nil, nil, true)
}

// move is a put of src, or a get into buf, in all cases. waits: it returns at the end of the operation; else the events
// tell that end, and it may return before.
func (d *Domain) move(try attempt, ask uint8, src, buf []byte, local, remote *Event, waits bool) error {
	b := src
	if ask == askGet {
		b = buf
	}
	if done, err := d.direct(try, b, ask == askPut); done || err != nil {
		if done {
			local.end(nil)
			remote.end(nil)
		}
		return err
	}
	o, err := d.begin(try, ask)
	if err != nil {
		return err
	}
	if waits {
		_, err = o.wait(src, buf)
		return err
	}
	o.local, o.remote = local, remote
	o.start(src, buf)
	return nil
}

// direct moves bytes without a message, if there is such a way, and reports whether it has.
func (d *Domain) direct(try attempt, b []byte, puts bool) (done bool, err error) {
	r, err := d.plan(try)
	switch {
	case err != nil:
		return false, err
	case r.base == nil:
		done, stale := d.w.kernelMove(try, r, b, puts)
		if stale {
			err = try.refusal(statusKey, 0)
		}
		return done, err
	case puts:
		copyIn(r, try.at.offset, b)
	default:
		copyOut(b, r, try.at.offset)
	}
	return true, nil
}

// Get reads len(buf) bytes from src into buf, and returns when they are there. It blocks where Put does. A Get during a
// Put of the same bytes may see a part of it.
func (d *Domain) Get(buf []byte, src Ref) error {
	if r := d.reach(src, uint64(len(buf))); r != nil {
		copyOut(buf, r, src.offset)
		return nil
	}
	return d.get(buf, src)
}

// get is Get where src is not mapped, or something is wrong.
func (d *Domain) get(buf []byte, src Ref) error {
	return d.move(attempt{"get", src, uint64(len(buf))}, askGet, nil, buf, nil, nil, true)
}

// PutNB starts a Put. local is done when src may be used again, remote when the Put is remotely complete; either may
// be nil. Where dst is mapped both are done at once. PutNB waits only while the most operations that may be under way
// to that process are, and for the answer of the target when memory that is not from Alloc is used for the first time.
// If it returns an error it has started nothing. The events, or Flush if remote is nil, return the error of the
// operation itself.
func (d *Domain) PutNB(dst Ref, src []byte, local, remote *Event) error {
	return d.startNB(attempt{"put", dst, uint64(len(src))}, askPut, src, nil, local, remote)
}

// startNB starts a put of src, or a get into buf, that ends the events.
func (d *Domain) startNB(try attempt, ask uint8, src, buf []byte, local, remote *Event) error {
	if err := d.claim(local, remote); err != nil {
		return try.fails(err)
	}
	err := d.move(try, ask, src, buf, local, remote, false)
	if err != nil {
		unclaim(local, remote)
	}
	return err
}

// GetNB starts a Get; the event is done when the bytes are in buf. See PutNB.
func (d *Domain) GetNB(buf []byte, src Ref, done *Event) error {
	return d.startNB(attempt{"get", src, uint64(len(buf))}, askGet, nil, buf, nil, done)
}

// PutNBI starts a Put that Flush completes; until then the caller must not change src. See PutNB.
func (d *Domain) PutNBI(dst Ref, src []byte) error {
	if r := d.reach(dst, uint64(len(src))); r != nil {
		copyIn(r, dst.offset, src)
		return nil
	}
	return d.move(attempt{"put", dst, uint64(len(src))}, askPut, src, nil, nil, nil, false)
}

// GetNBI starts a Get that Flush completes. See PutNB.
func (d *Domain) GetNBI(buf []byte, src Ref) error {
	if r := d.reach(src, uint64(len(buf))); r != nil {
		copyOut(buf, r, src.offset)
		return nil
	}
	return d.move(attempt{"get", src, uint64(len(buf))}, askGet, nil, buf, nil, nil, false)
}

// Fence orders the writes of this Domain: at each target, puts, signals and atomics that were started before it are
// seen before those that are started after it. It is one instruction where all targets are mapped; else it blocks the
// calling thread until the operations under way by messages have ended.
func (d *Domain) Fence() error {
	if err := d.allowed(attempt{what: "fence"}); err != nil {
		return err
	}
	d.fence.Add(1)
	d.w.raceOrder.pass()
	return d.flush(-1)
}

// Flush blocks the calling thread until all operations that were started in this Domain to that rank are remotely
// complete, and gets are done. It returns the first error of the operations without an event since the last Flush;
// events have their own. It is a full fence, also where all is mapped: loads after it come after the stores before it.
func (d *Domain) Flush(rank int) error {
	try := attempt{what: "flush", at: Ref{rank: uint32(rank)}}
	if err := d.allowed(try); err != nil {
		return err
	}
	if rank < 0 || rank >= len(d.peers) {
		return try.fails(fmt.Errorf("%w: the job has 0 to %d", nmad.ErrRank, len(d.peers)-1))
	}
	d.fence.Add(1)
	d.w.raceOrder.pass()
	if d.byMessages.Load() == nil {
		return nil
	}
	return d.flushAndTell(rank)
}

// FlushAll is Flush for all ranks.
func (d *Domain) FlushAll() error {
	if err := d.allowed(attempt{what: "flush"}); err != nil {
		return err
	}
	d.fence.Add(1)
	d.w.raceOrder.pass()
	return d.flushAndTell(-1)
}

// flushAndTell waits for the operations to a rank, or to all (-1), and returns their first error.
func (d *Domain) flushAndTell(rank int) error {
	if err := d.flush(rank); err != nil {
		return err
	}
	return d.takeError(rank)
}

// Local returns the n bytes at a Ref for loads and stores, if they are mapped: memory of this process, and memory from
// Alloc and Make of other processes of the host; else false. It looks into tables, and waits only for the answer of the
// target when memory from Make is used for the first time. The bytes can be read, even when their process has died,
// until the memory is freed, or the World is closed. docs/rma.md says what Go's memory model means for them.
func (d *Domain) Local(at Ref, n int) ([]byte, bool) {
	if n < 0 {
		return nil, false
	}
	try := attempt{"look", at, uint64(n)}
	r := d.reach(at, try.n)
	if r == nil {
		if d.allowed(try) != nil || uint64(at.rank) >= uint64(len(d.peers)) {
			return nil, false
		}
		if r = d.peers[at.rank].find(at.index); d.peers[at.rank].lost.Load() == nil {
			r, _ = d.plan(try)
		}
		if r == nil || r.key != at.key || r.base == nil || !r.reaches(at.offset, try.n) {
			return nil, false
		}
	}
	return bytesAt(r.base, at.offset, uint64(n)), true
}
