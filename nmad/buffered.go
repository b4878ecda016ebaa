package nmad

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/firstfit"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/lock"
)

// Attach gives the domain memory for sends with Operation.Buffered: such a send copies its message there, and is done
// at once, whether or not a receive is posted. A message takes as many bytes as it has, in one piece, until it was
// sent. Memory for all messages together is always enough; in less memory the gaps between messages may be too short
// for the next one. The memory belongs to the domain until Detach. Attach fails with ErrConfig while other memory is
// attached. It does not block.
func (d *Domain) Attach(memory []byte) error {
	if err := d.accessError(); err != nil {
		return err
	}
	if !d.attached.CompareAndSwap(nil, newAttached(memory)) {
		return fmt.Errorf("nmad: attach a buffer: %w: one is attached to domain %d: detach that first", ErrConfig, d.number)
	}
	return nil
}

// Detach takes the memory of Attach back, and returns it. It waits until all messages in the memory were sent or have
// failed, and also returns the first error of such a message that no other call has returned. If ctx is done before,
// Detach returns nil and the cause of ctx, and the memory stays attached. It fails with ErrBuffer if no memory is
// attached. Meanwhile buffered sends fail with ErrBuffer. Detach blocks the calling thread or goroutine only, and works
// after Close, too.
func (d *Domain) Detach(ctx context.Context) ([]byte, error) {
	if err := d.accessError(); err != nil {
		return nil, err
	}
	a := d.attached.Load()
	if a == nil || !a.begin() {
		return nil, fmt.Errorf("nmad: detach a buffer: %w: none is attached to domain %d", ErrBuffer, d.number)
	}
	for k := a.oldest(); k != nil; k = a.oldest() {
		if err := k.request.WaitContext(ctx); !k.request.doneOrNotStarted() {
			a.detaching.Store(false)
			return nil, err
		}
	}
	d.attached.Store(nil)
	return a.memory, a.takeLate()
}

// attached is the memory of a domain's buffered sends. The places of messages that have ended are freed when a thread
// looks for a place.
type attached struct {
	memory    []byte
	detaching atomic.Bool

	mu        marcel.SpinLock    // nothing inside waits
	room      firstfit.List      // bytes that are free
	used      []*attachedMessage // in the order in which they were sent
	spares    shelf.Spares[attachedMessage]
	lateError error // how a message has ended that was given up; no call has told it yet
}

// attachedMessage is a message in attached memory. attached.mu guards it, except for begun and r.
type attachedMessage struct {
	at, size int         // its place
	begun    atomic.Bool // r was started
	request  Request
	op       Operation
}

func newAttached(memory []byte) *attached {
	return &attached{memory: memory, room: firstfit.New(len(memory))}
}

// begin makes the caller the one that detaches. It returns false if another thread does.
func (mem *attached) begin() bool { return mem.detaching.CompareAndSwap(false, true) }

// reclaim frees the places of messages that have ended: all of them, or, if all is false, the oldest ones up to the
// first that has not ended. The caller holds mu.
func (mem *attached) reclaim(all bool) {
	if all {
		mem.used = slices.DeleteFunc(mem.used, mem.free)
		return
	}
	n := 0
	for n < len(mem.used) && mem.free(mem.used[n]) {
		n++
	}
	mem.used = slices.Delete(mem.used, 0, n)
}

// free frees the place of a message if it has ended, and reports whether it has; then the caller removes it from used.
// The caller holds mu.
func (mem *attached) free(k *attachedMessage) bool {
	if !k.begun.Load() || !k.request.done() {
		return false
	}
	if err := k.request.core.Err(); err != nil && mem.lateError == nil {
		mem.lateError = fmt.Errorf("nmad: a buffered message that was sent before to rank %d, tag %#x: %w",
			k.request.gate.rank, k.op.Tag, err)
	}
	mem.putBack(k)
	return true
}

// putBack frees the place of a message. The caller holds mu.
func (mem *attached) putBack(k *attachedMessage) {
	if k.size > 0 {
		mem.room.Give(k.at, k.size)
	}
	k.op = Operation{}
	mem.spares.Put(k)
}

// take finds a place for a message of that many bytes; it returns nil if there is none, or if a thread detaches the
// memory. It looks at detaching with mu held, and the thread that detaches looks for messages with mu held: so that
// thread sees the message, or the message gets no place.
func (mem *attached) take(size int) *attachedMessage {
	mem.mu.Lock()
	defer mem.mu.Unlock()
	at, ok := 0, !mem.detaching.Load()
	if ok && size > 0 {
		at, ok = mem.room.Take(size)
	}
	if !ok {
		return nil
	}
	k := mem.spares.Get()
	k.at, k.size = at, size
	k.begun.Store(false)
	mem.used = append(mem.used, k)
	return k
}

// drop frees the place of a message that could not be sent.
func (mem *attached) drop(k *attachedMessage) {
	mem.mu.Lock()
	defer mem.mu.Unlock()
	mem.used = slices.DeleteFunc(mem.used, func(x *attachedMessage) bool { return x == k })
	mem.putBack(k)
}

// oldest returns the oldest message that has not ended; nil if all have.
func (mem *attached) oldest() *attachedMessage {
	for tries := 0; ; tries++ {
		mem.mu.Lock()
		mem.reclaim(true)
		if len(mem.used) == 0 {
			mem.mu.Unlock()
			return nil
		}
		k := mem.used[0]
		mem.mu.Unlock()
		if k.begun.Load() {
			return k
		}
		lock.BackOff(tries) // a thread is about to start its send
	}
}

// takeLate returns the error of a message that has failed after its Post had returned, once.
func (mem *attached) takeLate() error {
	mem.mu.Lock()
	defer mem.mu.Unlock()
	mem.reclaim(false)
	err := mem.lateError
	mem.lateError = nil
	return err
}

// sendBuffered is Post of a send with Operation.Buffered: it starts the send of a copy, and ends the caller's request.
func (g *Gate) sendBuffered(r *Request, op *Operation) error {
	a := g.domain.attached.Load()
	if a == nil || a.detaching.Load() {
		return g.noBuffer(op.Tag)
	}
	if err := cmp.Or(a.takeLate(), g.Err()); err != nil {
		return err
	}
	size := op.size()
	k := a.take(size)
	if k == nil { // poll: then messages that were sent may end
		g.domain.poll()
		a.mu.Lock()
		a.reclaim(true)
		full := len(a.memory) - a.room.Free()
		a.mu.Unlock()
		if k = a.take(size); k == nil && a.detaching.Load() {
			return g.noBuffer(op.Tag)
		} else if k == nil {
			return fmt.Errorf("nmad: buffered send of %d bytes to rank %d, tag %#x: %w: %d of its %d bytes are in use: attach more, or send when earlier messages have left",
				size, g.rank, op.Tag, ErrBuffer, full, len(a.memory))
		}
	}
	err := op.copyTo(a.memory[k.at : k.at+size])
	if err == nil {
		err = r.claim()
	}
	if err != nil {
		a.drop(k)
		return err
	}
	k.op = Operation{Match: op.Match, Buf: a.memory[k.at : k.at+size : k.at+size], Priority: op.Priority}
	k.request.prepareSend(g, &k.op)
	g.submit(&k.request)
	k.begun.Store(true)
	r.endAtOnce(g, op.Tag, size)
	return nil
}

// noBuffer is the error of a buffered send when no memory is attached.
func (g *Gate) noBuffer(tag uint64) error {
	return fmt.Errorf("nmad: buffered send to rank %d, tag %#x: %w: none is attached to domain %d: see Domain.Attach",
		g.rank, tag, ErrBuffer, g.domain.number)
}

// size returns the length of the message of a send, in bytes.
func (op *Operation) size() int {
	switch {
	case op.Data != nil:
		return op.Data.Size()
	case op.Parts != nil:
		return driver.Length(op.Parts)
	}
	return len(op.Buf)
}

// copyTo copies the message of a send. It fails with ErrData if the message has fewer bytes than its size.
func (op *Operation) copyTo(to []byte) error {
	n := 0
	switch {
	case op.Data != nil:
		flow.CallUser(func() {
			op.Data.Pieces(0, func(piece []byte) bool {
				n += copy(to[n:], piece)
				return n < len(to)
			})
		})
	case op.Parts != nil:
		n = driver.Gather(to, op.Parts)
	default:
		n = copy(to, op.Buf)
	}
	if n < len(to) {
		return fmt.Errorf("nmad: buffered send, tag %#x: %w: %d of %d", op.Tag, ErrData, n, len(to))
	}
	return nil
}
