package table

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/am"
	"github.com/pm2-go/pm2/nmad/rma"
)

// Config says what a table is like. It is the same in all processes.
type Config struct {
	Slots      int   // of each process; default 1<<16
	ValueBytes int   // of each value; default 8
	ID         am.ID // of the handler; a process has one table for each
}

// Table is the entries of all processes. Safe for concurrent use.
type Table struct {
	w       *rma.World
	m       *am.World
	cfg     Config
	seg     *rma.Segment
	each    uint64      // bytes of a slot
	writing atomic.Bool // a handler is: those of different peers may run at once
}

// What went wrong, for errors.Is.
var (
	ErrConfig = nmad.ErrConfig
	ErrFull   = errors.New("no room for this key")
)

// A slot, and how many of them a key may be in.
const (
	keyAt   = 8
	valueAt = 16
	probes  = 32
)

// What a handler answers.
const (
	stored = iota
	full
	failed
)

// Open makes the table. All processes call it.
func Open(w *rma.World, m *am.World, cfg Config) (*Table, error) {
	cfg.Slots, cfg.ValueBytes = cmp.Or(cfg.Slots, 1<<16), cmp.Or(cfg.ValueBytes, 8)
	if cfg.Slots < 1 || cfg.ValueBytes < 1 || cfg.ValueBytes > m.Default().Limits().Medium {
		return nil, fmt.Errorf("table: %w: %+v: at least 1 each, and values of at most %d bytes", ErrConfig, cfg, m.Default().Limits().Medium)
	}
	t := &Table{w: w, m: m, cfg: cfg, each: uint64(valueAt+cfg.ValueBytes+7) &^ 7}
	if err := m.Handle(cfg.ID, t.write); err != nil {
		return nil, err
	}
	var err error
	t.seg, err = w.Alloc(cfg.Slots * int(t.each))
	return t, err
}

// Close ends the table. All processes call it, when their calls have ended.
func (t *Table) Close() error { return errors.Join(t.seg.Free(), t.m.Handle(t.cfg.ID, nil)) }

// home is the process of a key, and its first slot there.
func (t *Table) home(key uint64) (rank, slot int) {
	h := (key ^ key>>32) * 0x9e3779b97f4a7c15
	h = (h ^ h>>29) * 0xbf58476d1ce4e5b9
	h ^= h >> 32
	return int(h % uint64(t.w.Size())), int(h / uint64(t.w.Size()) % uint64(t.cfg.Slots))
}

// at names the slot that is so far from the first one.
func (t *Table) at(rank, slot, further int) rma.Ref {
	return t.seg.At(rank, uint64((slot+further)%t.cfg.Slots)*t.each)
}

// Get copies the value of a key into value, of ValueBytes bytes, and reports whether there is one. No process takes part,
// where the memory is mapped.
func (t *Table) Get(d *rma.Domain, key uint64, value []byte) (bool, error) {
	if len(value) != t.cfg.ValueBytes {
		return false, t.length(value)
	}
	rank, slot := t.home(key)
	for i := range min(probes, t.cfg.Slots) {
		at := t.at(rank, slot, i)
		for {
			before, err := rma.Load[uint64](d, at)
			if err != nil || before == 0 {
				return false, err
			}
			if before%2 != 0 { // it is being written
				marcel.Yield()
				continue
			}
			has, err := rma.Load[uint64](d, at.Add(keyAt)) // a slot keeps its key
			if err != nil {
				return false, err
			}
			if has != key {
				break
			}
			if err := d.Get(value, at.Add(valueAt)); err != nil {
				return false, err
			}
			after, err := rma.Load[uint64](d, at)
			if err != nil || after == before {
				return err == nil, err
			}
		}
	}
	return false, nil
}

func (t *Table) length(value []byte) error {
	return fmt.Errorf("table: %w: a value of %d bytes, and all have %d", ErrConfig, len(value), t.cfg.ValueBytes)
}

// Put stores the value of a key, and returns once all lookups find it.
func (t *Table) Put(ctx context.Context, key uint64, value []byte) error {
	var r am.Reply
	if err := t.PutFor(&r, key, value); err != nil {
		return err
	}
	return t.Wait(ctx, &r)
}

// PutFor starts a Put, of which Wait tells the end: several may be under way.
func (t *Table) PutFor(r *am.Reply, key uint64, value []byte) error {
	if len(value) != t.cfg.ValueBytes {
		return t.length(value)
	}
	rank, _ := t.home(key)
	r.Size = 8
	return t.m.Default().RequestFor(r, rank, t.cfg.ID, []uint64{key}, value)
}

// Wait waits for the end of a Put.
func (t *Table) Wait(ctx context.Context, r *am.Reply) error {
	args, _, err := r.WaitContext(ctx)
	switch {
	case err != nil:
		return err
	case len(args) == 1 && args[0] == stored:
		return nil
	case len(args) == 1 && args[0] == full:
		return fmt.Errorf("table: %w: %d slots have others: make more Slots", ErrFull, probes)
	}
	return errors.New("table: the process of the key could not write")
}

// write is the handler: it neither blocks nor allocates.
func (t *Table) write(token *am.Token, args []uint64, value []byte) {
	answer := [1]uint64{failed}
	if len(args) == 1 && len(value) == t.cfg.ValueBytes {
		for !t.writing.CompareAndSwap(false, true) { // for as long as a store of another handler takes
		}
		answer[0] = t.store(args[0], value)
		t.writing.Store(false)
	}
	_ = token.Reply(answer[:], nil) // an error is that of a requester that does not wait
}

// store writes the slot of a key, which is of this process.
func (t *Table) store(key uint64, value []byte) uint64 {
	rank, slot := t.home(key)
	mine := t.seg.Bytes()
	d := t.w.Default()
	for i := range min(probes, t.cfg.Slots) {
		at := t.at(rank, slot, i)
		version, err := rma.Load[uint64](d, at)
		if err != nil || rank != t.w.Rank() {
			return failed
		}
		if version != 0 && binary.NativeEndian.Uint64(mine[at.Offset()+keyAt:]) != key {
			continue
		}
		err = errors.Join(rma.Store(d, at, version+1), rma.Store(d, at.Add(keyAt), key), d.Fence(), d.Put(at.Add(valueAt), value), rma.Store(d, at, version+2))
		if err != nil {
			return failed
		}
		return stored
	}
	return full
}
