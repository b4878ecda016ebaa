package pingpong

import (
	"encoding/binary"
	"fmt"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

// What rank 0 tells rank 1 between rows, in 8 bytes: the number of the row that comes next, or that there is none.
const noMoreRows = ^uint64(0)

// announce tells rank 1 which row comes. Only a thread may call it.
func announce(w Wire, row uint64) error {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], row)
	if err := w.Send(tag(0, tagControl), word[:]); err != nil {
		return fmt.Errorf("announce the next row: %w", err)
	}
	return nil
}

// awaitRow waits until rank 0 announces a row, and returns its number. more is false if no row follows. Only a thread may
// call it.
func awaitRow(w Wire, rows int) (row int, more bool, err error) {
	var word [8]byte
	n, err := w.Recv(tag(0, tagControl), word[:])
	if err != nil {
		return 0, false, fmt.Errorf("wait for the next row: %w", err)
	}
	next := binary.LittleEndian.Uint64(word[:])
	if n == len(word) && next == noMoreRows {
		return 0, false, nil
	}
	if n != len(word) || next >= uint64(rows) {
		return 0, false, fmt.Errorf("%w: %d bytes announce row %d of %d", errVerify, n, next, rows)
	}
	return int(next), true, nil
}

// inThreads runs play for each pair in a thread of its own, waits for all, and returns the first error. Only a
// thread may call it.
func inThreads(pairs int, play func(pair int) error) error {
	threads := make([]marcel.Thread, pairs)
	errs := make([]error, pairs)
	for i := range threads {
		threads[i] = marcel.SpawnWith(marcel.Attr{Name: fmt.Sprintf("pair %d", i)}, func() { errs[i] = play(i) })
	}
	var first error
	for i, t := range threads {
		err := t.Join()
		if err == nil {
			err = errs[i]
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// leadRow runs rank 0's side of a row. Only a thread may call it.
func leadRow(g *nmad.Gate, o *Options, row int, t *tally, overhead int64) error {
	bytes := o.Sizes[row]
	if err := announce(g, uint64(row)); err != nil {
		return err
	}
	return o.each(func(pair int) error {
		s := t.samples(overhead)
		defer s.flush()
		p, done := o.part(g, row, pair)
		defer done()
		return p.lead(o.warmup(bytes), o.iterations(bytes), s.add)
	})
}

// followRows runs rank 1's side of all rows. Only a thread may call it.
func followRows(g *nmad.Gate, o *Options) error {
	for {
		row, more, err := awaitRow(g, len(o.Sizes))
		if err != nil || !more {
			return err
		}
		bytes := o.Sizes[row]
		err = o.each(func(pair int) error {
			p, done := o.part(g, row, pair)
			defer done()
			return p.follow(o.warmup(bytes), o.iterations(bytes))
		})
		if err != nil {
			return err
		}
	}
}
