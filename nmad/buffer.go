package nmad

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/firstfit"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// Errors of buffers and loans, for errors.Is.
var (
	// ErrNoRoom: the memory of Gate.Alloc is all in use. Release a buffer, or wait for a send of one.
	ErrNoRoom = errors.New("no room for another buffer")
	// ErrReleased: the buffer, or the loan, was released before.
	ErrReleased = errors.New("already released")
)

// pageBytes is the unit of the memory of buffers, in bytes.
const pageBytes = 4096

// DefaultLoans is the default of Config.Loans, in bytes.
const DefaultLoans = 64 << 20

// maxLoanBytes is the largest value of Config.Loans.
const maxLoanBytes = 16 << 30

// Buffer is memory for one message at a time to the process of one gate, which can read the message where it lies.
// Gate.Alloc makes a Buffer. It is a handle, and may be copied. After Release it has no bytes, and its use fails with
// ErrReleased. The zero Buffer counts as released. The methods never block; any number of threads may call them at
// once, also in callbacks.
//
//	free --- Alloc ---> held --- a send begins ---> out --- the send is done ---> held --- Release ---> free
//	                                                 '--- Release ---> given up --- the send is done ---> free
//
// As with any buffer of a send, the program must not write to it from the start of the send until the send is done. The
// program must not touch what Bytes has returned after Release.
type Buffer struct {
	block      *block
	generation uint32
	size       int
}

// block is the state of a buffer. When neither the program nor a send has it, its memory is free, and the block is used
// again for another buffer.
type block struct {
	pool             *bufferPool
	firstPage, pages int    // which pages it has
	generation       uint32 // of the handle that is good; counts when the program gives it back
	held, sending    bool   // the program has it; a send is under way
	loanBody         loanBody
}

// bufferPool is the memory of a gate's buffers. Its lock may be taken inside that of the gate.
type bufferPool struct {
	gate   *Gate
	memory *mapped.Memory

	mu          marcel.SpinLock     // guards all below, and the blocks
	free        firstfit.List       // of pages
	spareBlocks shelf.Spares[block] // blocks without memory
	inUse       int                 // number of blocks that have memory
	endErr      error               // what Alloc fails with; nil while it gives memory
	vacated     bool                // the memory was given back to the system
}

// Alloc returns memory for a message of size bytes to the process of this gate. Its contents are arbitrary. Over shared
// memory a message in it need not be copied: a receive that takes loans (Operation.Loan) reads it where it lies. Over
// other networks, and to any other receive, it is sent as from any other memory, so a program need not know which
// network it uses.
//
// All buffers of a gate together have up to Config.Loans bytes, in whole pages of 4 KiB. If there is no room left, or
// only in pieces that are too short, Alloc fails with ErrNoRoom at once. The first call makes the memory, which takes
// some system calls; pages that were touched stay until the gate has ended and all buffers were released. The peer can
// read all of the memory, also what was not sent yet. Later calls allocate nothing, unless more buffers are out than
// ever before. Alloc fails with the gate's error when the gate has ended, and with ErrConfig for a gate of a domain
// other than 0.
func (g *Gate) Alloc(size int) (Buffer, error) {
	if err := g.accessError(); err != nil {
		return Buffer{}, err
	}
	if g.domain != nil && g.domain.number != 0 {
		return Buffer{}, fmt.Errorf("nmad: %w: memory to lend is that of the job's own domain, 0, and this gate is of domain %d: send from any other",
			ErrConfig, g.domain.number)
	}
	if size < 0 {
		return Buffer{}, fmt.Errorf("nmad: %w: a buffer of %d bytes", ErrConfig, size)
	}
	p := g.buffers.Load()
	if p == nil {
		var err error
		if p, err = g.openBuffers(); err != nil {
			return Buffer{}, err
		}
	}
	return p.take(size)
}

// take takes the memory of a buffer of size bytes.
func (pool *bufferPool) take(size int) (Buffer, error) {
	n := max(1, size/pageBytes+min(1, size%pageBytes))
	pool.mu.Lock()
	defer pool.mu.Unlock()
	if pool.endErr != nil {
		return Buffer{}, pool.endErr
	}
	at, ok := pool.free.Take(n)
	if !ok {
		return Buffer{}, &noRoom{pool.gate.rank, size, len(pool.memory.Bytes()), pool.free.Free() * pageBytes}
	}
	x := pool.spareBlocks.Get()
	if x.pool == nil { // it is new; of others, handles that were released read pool without the lock
		x.pool = pool
	}
	x.firstPage, x.pages, x.held = at, n, true
	pool.inUse++
	x.loanBody = newWhere(pool.memory.Locator(), at*pageBytes)
	return Buffer{x, x.generation, size}, nil
}

// noRoom is an ErrNoRoom with a text, which is made when it is read, not with the lock held.
type noRoom struct{ rank, size, all, free int }

func (e *noRoom) Unwrap() error { return ErrNoRoom }

func (e *noRoom) Error() string {
	why := "raise Config.Loans or " + EnvLoans
	if e.size <= e.all {
		why = fmt.Sprintf("%d of them are free, in pieces: release some, or %s", e.free, why)
	}
	return fmt.Sprintf("nmad: a buffer of %d bytes for rank %d: %v among the %d bytes of its buffers; %s",
		e.size, e.rank, ErrNoRoom, e.all, why)
}

// lock takes the lock of the pool, and reports whether b was not released. Buffer.unlock releases the lock. The zero
// Buffer has no lock.
func (b Buffer) lock() bool {
	if b.block == nil {
		return false
	}
	b.block.pool.mu.Lock()
	return b.block.generation == b.generation
}

// Bytes returns the memory; nil if it was released.
func (b Buffer) Bytes() (bytes []byte) {
	if b.lock() {
		bytes = b.bytes()
	}
	b.unlock()
	return bytes
}

// bytes is Bytes for a buffer whose memory is not free.
func (b Buffer) bytes() []byte {
	bytes, _ := b.block.pool.memory.At(uint64(b.block.firstPage)*pageBytes, uint64(b.size))
	return bytes
}

// Len returns how many bytes the buffer has.
func (b Buffer) Len() int { return b.size }

// First returns the same buffer for a message of its first n bytes. n is limited to 0 to Len.
func (b Buffer) First(n int) Buffer {
	b.size = max(0, min(n, b.size))
	return b
}

// Release gives the memory back: at once, or when the send that is under way is done. It fails with ErrReleased if the
// buffer was released before.
func (b Buffer) Release() error {
	live := b.lock()
	if live {
		b.block.generation++
		b.block.held = false
	}
	if b.unlock(); !live {
		return errReleased("buffer")
	}
	return nil
}

// errReleased is an ErrReleased that names what was released before.
func errReleased(what string) error { return fmt.Errorf("nmad: %s: %w", what, ErrReleased) }

// unlock releases the lock. Before that it frees the memory of the buffer if neither the program nor a send has it any
// more.
func (b Buffer) unlock() {
	x := b.block
	if x == nil {
		return
	}
	p := x.pool
	if x.pages != 0 && !x.held && !x.sending {
		p.free.Give(x.firstPage, x.pages)
		x.pages = 0
		p.spareBlocks.Put(x)
		p.inUse--
	}
	p.unlock()
}

// unlock releases the lock, and gives the memory back if the pool has ended and no buffer is in use.
func (pool *bufferPool) unlock() {
	last := pool.endErr != nil && pool.inUse == 0 && !pool.vacated
	pool.vacated = pool.vacated || last
	pool.mu.Unlock()
	if last {
		_ = pool.memory.Vacate() // if that fails the memory stays mapped
	}
}

// startSend marks the buffer as used by a send over g. It fails if the buffer cannot be sent.
func (b Buffer) startSend(g *Gate, op *Operation) error {
	if op.Buf != nil || op.Parts != nil || op.Data != nil {
		return fmt.Errorf("nmad: %w: a send of a buffer and of other bytes", ErrConfig)
	}
	if other := b.block.pool.gate; other != g {
		return fmt.Errorf("nmad: %w: a buffer for rank %d is sent to rank %d", ErrConfig, other.rank, g.rank)
	}
	live := b.lock()
	busy := b.block.sending
	b.block.sending = busy || live
	b.block.pool.mu.Unlock()
	switch {
	case !live:
		return errReleased("send of a buffer")
	case busy:
		return fmt.Errorf("nmad: send of a buffer: %w: the one before it is not done", ErrActive)
	}
	return nil
}

// sendDone undoes startSend when the send is done.
func (bl *block) sendDone() {
	bl.pool.mu.Lock()
	bl.sending = false
	Buffer{block: bl}.unlock()
}

// end makes take fail with why. Buffers that are in use stay until they are released.
func (pool *bufferPool) end(why error) {
	pool.memory.Hide()
	pool.mu.Lock()
	if pool.endErr == nil {
		pool.endErr = why
	}
	pool.unlock()
}

// openBuffers makes the memory of the gate's buffers, unless another thread has made it.
func (g *Gate) openBuffers() (*bufferPool, error) {
	h := g.lock()
	defer h.unlock()
	if p := g.buffers.Load(); p != nil || h.flow.Dead != nil {
		return p, h.flow.Dead
	}
	n := g.loanBytes / pageBytes
	m, err := mapped.Make("pm2-loans", uint64(n)*pageBytes)
	if err != nil {
		return nil, fmt.Errorf("nmad: buffers for rank %d: %w", g.rank, err)
	}
	m.ReadOnly()
	p := &bufferPool{gate: g, memory: m, free: firstfit.New(n)}
	g.buffers.Store(p)
	return p, nil
}

// endLoans makes Alloc fail with why.
func (h *lockedGate) endLoans(why error) {
	if p := h.gate.buffers.Load(); p != nil {
		p.end(why)
	}
}
