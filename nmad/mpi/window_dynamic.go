package mpi

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad/rma"
)

// A process of a window of NewDynamicWindow tells the others which memory it has attached by a table behind its words.
// The process makes the word version odd, writes the table, and makes version even again. A reader uses a table that it
// has read if version was even, and the same before and afterwards. A process keeps the table of each target that it
// has read, and compares the version of that copy with the target's before each access.

const (
	maxAttached     = 1024
	attachmentBytes = 16 + rma.RefBytes // an entry of the table: address, size, and Ref
)

// attachedMemory is memory that this process has attached.
type attachedMemory struct {
	attachment
	region *rma.Region
}

// attachment is an entry of the table of a process: a piece of memory that the process has attached.
type attachment struct {
	at, size uint64 // the address in that process, and how many bytes there are
	ref      rma.Ref
}

// attachments is the table of a process.
type attachments struct {
	version uint64 // the word version when the table was read
	all     []attachment
}

// Attach adds memory of the program to a window of NewDynamicWindow, and returns its displacement at: other processes
// access byte i of the memory at displacement at + i. The program has to tell them at. The memory must stay where it is
// until Detach, or Free. Attach does not wait for other processes. ErrRange: a part of the memory is attached already;
// ErrWindow: 1,024 pieces are attached.
func (w *Window) Attach(memory []byte) (at int, err error) {
	if err := w.checkDynamic(); err != nil {
		return 0, w.fails("attach", err)
	}
	x := attachedMemory{attachment: attachment{at: uint64(numberOf(memory)), size: uint64(len(memory))}}
	w.mu.Lock()
	for _, y := range w.attached {
		if x.at < y.at+y.size && y.at < x.at+x.size {
			err = fmt.Errorf("%w: a part of it is attached", ErrRange)
		}
	}
	if len(w.attached) == maxAttached {
		err = fmt.Errorf("%w: %d are attached, which is the limit: detach one first", ErrWindow, maxAttached)
	}
	if err == nil {
		x.region, err = w.memory.Register(memory)
	}
	if err == nil {
		x.ref = x.region.Ref(0)
		w.attached = append(w.attached, x)
		err = w.publish()
	}
	w.mu.Unlock()
	if err != nil {
		return 0, w.fails("attach", err)
	}
	return int(x.at), nil
}

// Detach removes memory that Attach has added. It waits until accesses of other processes that have begun are done;
// later ones fail. ErrRange: this memory was not attached.
func (w *Window) Detach(memory []byte) error {
	if err := w.checkDynamic(); err != nil {
		return w.fails("detach", err)
	}
	w.mu.Lock()
	i := slices.IndexFunc(w.attached, func(x attachedMemory) bool {
		return x.at == uint64(numberOf(memory)) && x.size == uint64(len(memory))
	})
	if i < 0 {
		w.mu.Unlock()
		return w.fails("detach", fmt.Errorf("%w: it is not attached", ErrRange))
	}
	region := w.attached[i].region
	w.attached = slices.Delete(w.attached, i, i+1)
	err := w.publish()
	w.mu.Unlock()
	if err2 := region.Close(); err == nil {
		err = err2
	}
	return w.unless("detach", err)
}

// checkDynamic returns why memory cannot be attached to w; nil: it can.
func (w *Window) checkDynamic() error {
	err := w.usable()
	if err == nil && w.kind != dynamicWindow {
		err = fmt.Errorf("%w: it is one of %s, not of NewDynamicWindow", ErrWindow, windowKindNames[w.kind])
	}
	return err
}

// tableAt returns where the table lies, from the first word on, in bytes.
func (w *Window) tableAt() int { return wordsOfRanks(len(w.peers)) }

// publish writes the table. The caller holds mu.
func (w *Window) publish() error {
	me := w.comm.rank
	version := w.word(me, versionAt)
	if _, err := rma.Fetch(w.domain, rma.Add, version, uint64(1)); err != nil {
		return err
	}
	b := w.table.Bytes()[w.tableAt():][:0]
	for _, x := range w.attached {
		b = binary.LittleEndian.AppendUint64(b, x.at)
		b = binary.LittleEndian.AppendUint64(b, x.size)
		b, _ = x.ref.AppendBinary(b)
	}
	if err := rma.Store(w.domain, version.Add(8), uint64(len(w.attached))); err != nil {
		return err
	}
	_, err := rma.Fetch(w.domain, rma.Add, version, uint64(1))
	return err
}

// targetPart is the part of a piece of attached memory that an access uses.
type targetPart struct {
	low  int     // displacement of its first byte from the address of the elements
	size int     // in bytes
	ref  rma.Ref // of its first byte
}

// find returns the memory that a target has attached at the n bytes from address at + low on. If the bytes are in
// several attached pieces, which lie one behind the other, find returns their parts instead.
func (w *Window) find(target, at, low, n int) (rma.Ref, *[]targetPart, error) {
	p := &w.peers[target]
	version, err := rma.Load[uint64](w.domain, w.word(target, versionAt))
	if err != nil {
		return rma.Ref{}, nil, err
	}
	seen := p.seen.Load()
	if seen == nil || seen.version != version {
		if seen, err = w.readAttachments(target); err != nil {
			return rma.Ref{}, nil, err
		}
		p.seen.Store(seen)
	}
	first := uint64(at + low)
	x := seen.find(first)
	if x != nil && uint64(n) <= x.size-(first-x.at) {
		return x.ref.Add(int64(first - x.at)), nil, nil
	}
	var over []targetPart
	for next, rest := first, uint64(n); x != nil; x = seen.find(next) {
		m := min(rest, x.size-(next-x.at))
		over = append(over, targetPart{low + int(next-first), int(m), x.ref.Add(int64(next - x.at))})
		if next, rest = next+m, rest-m; rest == 0 {
			return rma.Ref{}, &over, nil
		}
	}
	return rma.Ref{}, nil, fmt.Errorf("%w: %d B at %#x: it has not attached all of these", ErrRange, n, first)
}

// find returns the entry whose memory has the byte at an address; nil: there is none.
func (at *attachments) find(address uint64) *attachment {
	for i := range at.all {
		if x := &at.all[i]; address >= x.at && address-x.at < x.size {
			return x
		}
	}
	return nil
}

// readAttachments reads the table of a target. It waits while the target writes the table.
func (w *Window) readAttachments(target int) (*attachments, error) {
	x := &attachments{}
	version := w.word(target, versionAt)
	get := func() (bool, error) {
		before, err := rma.Load[uint64](w.domain, version)
		if err != nil || before&1 != 0 {
			return false, err
		}
		n, err := rma.Load[uint64](w.domain, version.Add(8))
		if err != nil || n > maxAttached {
			return false, err
		}
		b := make([]byte, n*attachmentBytes)
		if err := w.domain.Get(b, w.word(target, w.tableAt())); err != nil {
			return false, err
		}
		after, err := rma.Load[uint64](w.domain, version)
		if err != nil || after != before {
			return false, err
		}
		x.version, x.all = before, make([]attachment, n)
		for i := range x.all {
			y, e := &x.all[i], b[i*attachmentBytes:]
			y.at, y.size = binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:])
			if y.ref, err = rma.ParseRef(e[16:]); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	if done, err := get(); done || err != nil {
		return x, err
	}
	return x, w.until(target, get)
}
