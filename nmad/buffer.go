package nmad

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/region"
)

// Errors of buffers and loans, for errors.Is.
var (
	// ErrNoRoom: the memory for messages that are lent is all in use. Release a buffer, or wait for a send of one.
	ErrNoRoom = errors.New("no room for another buffer")
	// ErrReleased: the buffer, or the loan, was released before.
	ErrReleased = errors.New("already released")
)

// DefaultLoans is the default of Config.Loans, in bytes.
const DefaultLoans = 64 << 20

// Buffer is memory for one message at a time to the process of one gate. That process can read the message where it lies.
// Gate.Alloc makes a Buffer. It is a handle, and may be copied. After Release it has no bytes, and everything
// else fails with ErrReleased. The zero Buffer counts as released. The
// methods never block; any number of threads may call them at once, also in callbacks.
//
//	free --- Alloc ---> held --- a send begins ---> out --- the send is done ---> held --- Release ---> free
//	                                                 '--- Release ---> given up --- the send is done ---> free
//
// As with any buffer of a send, the program must not write to it from the start of the send until it is done. The program
// must not touch what Bytes gave after Release, nor, if Release came while a send was
// under way, after that send is done.
type Buffer struct {
	pool       *bufferPool
	page       int
	generation uint32
	size       int
}

// The states of the block of a buffer, under bufferPool.mu. A block that is free has none.
type bufferState uint8

const (
	taken   bufferState = iota // the program's
	out                        // a send is under way
	givenUp                    // likewise, and it was released
)

// block is what is known of the block that begins at a page.
type block struct {
	generation uint32 // odd: it is taken; counts how often it was taken and given back
	state      bufferState
}

// bufferPool is the memory of a gate's buffers. Its lock lies inside that of the gate; there is only the one for blocks
// and table, so they are changed by one caller at a time.
type bufferPool struct {
	gate   *Gate
	memory *region.Memory
	shared bool // the peer was given the descriptor; under Gate.mu, as is
	barred bool // it could not be

	mu     marcel.SpinLock
	free   *region.Blocks
	blocks []block // by page
	taken  int     // blocks that are not free
	dead   error   // why none are given any more; nil: they are
	gone   bool    // the memory was freed
}

// Alloc returns memory for a message of that many bytes to the process of this gate. Its contents are arbitrary.
// Over shared memory a message in it need not be copied: a receive that takes loans
// (Op.Loan) reads it where it lies. Over other networks, and to any other receive, it is sent as from
// any buffer, so a program need not know which network it is.
//
// All buffers of a gate together have up to Config.Loans bytes, in whole pages of 4 KiB; if there is no room left, or only in pieces
// that are too short, Alloc fails with ErrNoRoom at once. The memory is made by the first call, which takes
// some system calls; what is touched of it stays until the gate has ended and all buffers were released. The peer can read all of
// it, also what was not sent yet. Nothing is allocated by later calls. It fails once the gate has ended, and with ErrConfig for a gate of a domain other than the job's.
func (g *Gate) Alloc(size int) (Buffer, error) {
	if err := g.barred(); err != nil {
		return Buffer{}, err
	}
	if g.domain != nil && g.domain.number != 0 {
		return Buffer{}, fmt.Errorf("nmad: %w: memory to lend is that of the job's own domain, 0, and this gate is of domain %d: send from any other", ErrConfig, g.domain.number)
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

func (p *bufferPool) take(size int) (Buffer, error) {
	b, free, err := p.tryTake(size)
	if err == nil && b.pool == nil {
		all, why := len(p.blocks)*region.PageSize, "raise Config.Loans or "+EnvLoans
		if size <= all {
			why = fmt.Sprintf("%d of them are free, in pieces: release some, or %s", free*region.PageSize, why)
		}
		err = fmt.Errorf("nmad: a buffer of %d bytes for rank %d: %w among the %d bytes of its buffers; %s", size, p.gate.rank, ErrNoRoom, all, why)
	}
	return b, err
}

// tryTake is take, and says how many pages are free if none is long enough.
func (p *bufferPool) tryTake(size int) (b Buffer, free int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead != nil {
		return b, 0, p.dead
	}
	page, ok := p.free.Take(size)
	if !ok {
		return b, p.free.Free(), nil
	}
	x := &p.blocks[page]
	x.generation++
	x.state = taken
	p.taken++
	return Buffer{p, page, x.generation, size}, 0, nil
}

// live gives the block if b was not released. Under mu.
func (p *bufferPool) live(b Buffer) *block {
	if x := &p.blocks[b.page]; x.generation == b.generation && x.state != givenUp {
		return x
	}
	return nil
}

// Bytes returns the memory; nil: it was released.
func (b Buffer) Bytes() []byte {
	if b.pool == nil {
		return nil
	}
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	if b.pool.live(b) == nil {
		return nil
	}
	return b.bytes()
}

// bytes is Bytes of a buffer that is not free.
func (b Buffer) bytes() []byte {
	at := b.page * region.PageSize
	return b.pool.memory.Bytes()[at : at+b.size : at+b.size]
}

// Len returns how many bytes it has.
func (b Buffer) Len() int { return b.size }

// First returns the same buffer for a message of its first n bytes. n is limited to 0 to Len.
func (b Buffer) First(n int) Buffer {
	b.size = max(0, min(n, b.size))
	return b
}

// Release gives the memory back: at once, or when the send that is under way is done. The error is ErrReleased if it was released before.
func (b Buffer) Release() error {
	if b.pool == nil {
		return errReleased("buffer")
	}
	p := b.pool
	p.mu.Lock()
	x := p.live(b)
	if x == nil {
		p.mu.Unlock()
		return errReleased("buffer")
	}
	if x.state == out {
		x.state = givenUp
	} else {
		p.put(b.page)
	}
	p.leave()
	return nil
}

func errReleased(what string) error { return fmt.Errorf("nmad: %s: %w", what, ErrReleased) }

// put gives a block back. Under mu.
func (p *bufferPool) put(page int) {
	p.blocks[page].generation++
	p.free.Give(page)
	p.taken--
}

// leave releases the lock, and frees the memory if no buffer is left that could use it.
func (p *bufferPool) leave() {
	last := p.dead != nil && p.taken == 0 && !p.gone
	p.gone = p.gone || last
	p.mu.Unlock()
	if last {
		p.memory.Free()
	}
}

// startSend marks the buffer as out, for a send over g.
func (b Buffer) startSend(g *Gate) error {
	p := b.pool
	if p.gate != g {
		return fmt.Errorf("nmad: %w: a buffer for rank %d is sent to rank %d", ErrConfig, p.gate.rank, g.rank)
	}
	p.mu.Lock()
	x := p.live(b)
	stale, busy := x == nil, x != nil && x.state == out
	if !stale && !busy {
		x.state = out
	}
	p.mu.Unlock()
	switch {
	case stale:
		return errReleased("send of a buffer")
	case busy:
		return fmt.Errorf("nmad: send of a buffer: %w: the one before it is not done", ErrActive)
	}
	return nil
}

// sendDone ends what startSend began.
func (p *bufferPool) sendDone(page int) {
	p.mu.Lock()
	if x := &p.blocks[page]; x.state == givenUp {
		p.put(page)
	} else {
		x.state = taken
	}
	p.leave()
}

// end gives no more buffers; those that are out there stay until they are released.
func (p *bufferPool) end(why error) {
	p.memory.Forget()
	p.mu.Lock()
	if p.dead == nil {
		p.dead = why
	}
	p.leave()
}

// startSendOp is startSend for an operation.
func (b Buffer) startSendOp(g *Gate, op *Op) error {
	if op.Buf != nil || op.Parts != nil || op.Data != nil {
		return fmt.Errorf("nmad: %w: a send of a buffer and of other bytes", ErrConfig)
	}
	return b.startSend(g)
}

// openBuffers makes the memory of the gate's buffers, unless another thread is faster.
func (g *Gate) openBuffers() (*bufferPool, error) {
	pages := g.loans / region.PageSize
	m, err := region.New(pages * region.PageSize)
	if err != nil {
		return nil, fmt.Errorf("nmad: buffers for rank %d: %w", g.rank, err)
	}
	p := &bufferPool{gate: g, memory: m, free: region.NewBlocks(pages), blocks: make([]block, pages)}
	h := g.lock()
	defer h.letGo()
	if other := g.buffers.Load(); other != nil {
		m.Free()
		return other, nil
	}
	if h.flow.Dead != nil {
		m.Free()
		return nil, h.flow.Dead
	}
	g.buffers.Store(p)
	return p, nil
}

// endLoans has the gate give no more buffers.
func (h *held) endLoans(why error) {
	if p := h.g.buffers.Load(); p != nil {
		p.end(why)
	}
}
