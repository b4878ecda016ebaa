package mpi

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad/rma"
)

// A process of a NewDynamicWindow tells the others what it has attached by a table in its words. It makes version odd,
// writes the table, and makes it even; a reader takes what it has read if version was the same, and even, before and
// afterwards. A process keeps the table of each target, and looks at its version before each access.

const (
	mostAttached    = 1024
	attachmentBytes = 16 + rma.RefBytes // where it lies in its process, how many bytes it has, and its name
)

// attachedMemory is memory that this process has attached.
type attachedMemory struct {
	attachedAt
	region *rma.Region
}

// attachedAt is memory that a process has attached.
type attachedAt struct {
	at, size uint64
	ref      rma.Ref
}

// attachments are those of a process, as of a version.
type attachments struct {
	version uint64
	all     []attachedAt
}

// Attach adds memory of the program to a window of NewDynamicWindow, and returns where it is: others access its byte i
// at that displacement and i. It stays where it is until Detach, or Free. It does not wait for others: the program
// tells them. Memory that is attached once more is ErrRange.
func (w *Window) Attach(memory []byte) (at int, err error) {
	if err := w.dynamically(); err != nil {
		return 0, w.fails("attach", err)
	}
	x := attachedMemory{attachedAt: attachedAt{at: uint64(numberOf(memory)), size: uint64(len(memory))}}
	w.mu.Lock()
	for _, y := range w.attached {
		if x.at < y.at+y.size && y.at < x.at+x.size {
			err = fmt.Errorf("%w: a part of it is attached", ErrRange)
		}
	}
	if len(w.attached) == mostAttached {
		err = fmt.Errorf("%w: %d are attached, which is the limit: detach one first", ErrWindow, mostAttached)
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

// Detach takes memory away that Attach has added. It waits until what others have under way in it is over, and from
// then on their accesses fail.
func (w *Window) Detach(memory []byte) error {
	if err := w.dynamically(); err != nil {
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

func (w *Window) dynamically() error {
	err := w.usable()
	if err == nil && w.form != dynamic {
		err = fmt.Errorf("%w: it is one of %s, not of NewDynamicWindow", ErrWindow, windowKindNames[w.form])
	}
	return err
}

func (w *Window) tableAt() int { return wordsOfRanks(len(w.peers)) }

// publish writes the table. Under mu.
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

// reach is a piece of memory that an access goes over: from a displacement on, counted as those of the elements are.
type reach struct {
	low, size int
	ref       rma.Ref
}

// find is the memory that a target has attached at a displacement, for the n bytes from low on. That may be several
// pieces, one behind the other.
func (w *Window) find(target, at, low, n int) (rma.Ref, *[]reach, error) {
	p := &w.peers[target]
	version, err := rma.Load[uint64](w.domain, w.word(target, versionAt))
	if err != nil {
		return rma.Ref{}, nil, err
	}
	seen := p.seen.Load()
	if seen == nil || seen.version != version {
		if seen, err = w.attachedAt(target); err != nil {
			return rma.Ref{}, nil, err
		}
		p.seen.Store(seen)
	}
	first := uint64(at + low)
	x := seen.at(first)
	if x != nil && uint64(n) <= x.size-(first-x.at) {
		return x.ref.Add(int64(first - x.at)), nil, nil
	}
	var over []reach
	for next, left := first, uint64(n); x != nil; x = seen.at(next) {
		m := min(left, x.size-(next-x.at))
		over = append(over, reach{low + int(next-first), int(m), x.ref.Add(int64(next - x.at))})
		if next, left = next+m, left-m; left == 0 {
			return rma.Ref{}, &over, nil
		}
	}
	return rma.Ref{}, nil, fmt.Errorf("%w: %d B at %#x: it has not attached all of these", ErrRange, n, first)
}

// at is the attachment that has a byte; nil: none has.
func (at *attachments) at(place uint64) *attachedAt {
	for i := range at.all {
		if x := &at.all[i]; place >= x.at && place-x.at < x.size {
			return x
		}
	}
	return nil
}

// attachedAt reads the table of a target.
func (w *Window) attachedAt(target int) (*attachments, error) {
	x := &attachments{}
	version := w.word(target, versionAt)
	get := func() (bool, error) {
		before, err := rma.Load[uint64](w.domain, version)
		if err != nil || before&1 != 0 {
			return false, err
		}
		n, err := rma.Load[uint64](w.domain, version.Add(8))
		if err != nil || n > mostAttached {
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
		x.version, x.all = before, make([]attachedAt, n)
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
