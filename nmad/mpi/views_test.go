package mpi

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

// TestMethodsAreFew: a type has no more than 40 methods, which one reads in go doc.
func TestMethodsAreFew(t *testing.T) {
	const maxMethods = 40
	for _, x := range []any{&Comm{}, &Intercomm{}, &Window{}, &Request{}, Immediate{}, Persistent{}} {
		if n := reflect.TypeOf(x).NumMethod(); n > maxMethods {
			t.Errorf("%T has %d methods, more than %d", x, n, maxMethods)
		}
	}
}

// TestViews: what a kind of communicator lacks is an error in the form with requests; the sources of messages between
// two groups are ranks of the other one in all forms; Idup makes one of those, too.
func TestViews(t *testing.T) {
	each(t, 3, func(w *Comm) error {
		b, err := On([]int64{1})
		if err != nil {
			return err
		}
		blocks := Blocks{Buffer: b, Each: 1}
		none := func(r *Request) error {
			if _, err := r.Wait(); !errors.Is(err, ErrComm) {
				return fmt.Errorf("an operation that the communicator lacks: %v", err)
			}
			return nil
		}
		x, err := halves(w, 1)
		if err != nil {
			return err
		}
		err = errors.Join(
			none(w.Immediate().NeighborAlltoall(blocks, blocks)), none(w.Persistent().NeighborAllgather(b, blocks)),
			none(x.Immediate().Scan(Sum, b, b)), none(x.Immediate().Exscan(Sum, b, b)), none(x.Persistent().NeighborAlltoall(blocks, blocks)),
		)
		if err != nil {
			return err
		}
		var d *Intercomm
		if _, err := Idup(x, &d).Wait(); err != nil {
			return err
		}
		defer d.Free()
		if d.Size() != x.Size() || d.RemoteSize() != x.RemoteSize() || d.Rank() != x.Rank() {
			return fmt.Errorf("rank %d of %d and %d, of one with %d, %d and %d", d.Rank(), d.Size(), d.RemoteSize(), x.Rank(), x.Size(), x.RemoteSize())
		}
		if w.Rank() == 0 { // alone in its group
			for round := range 2 {
				m, err := d.Mprobe(t.Context(), 1, round)
				if err != nil || m.Source != 1 {
					return fmt.Errorf("a message of rank 1 of the other group: %+v, %w", m, err)
				}
				if s, err := m.Recv(b); err != nil || s.Source != 1 {
					return fmt.Errorf("a message of rank 1 of the other group: %+v, %w", s, err)
				}
			}
			s, err := d.Immediate().Recv(b, AnySource, 7).Wait()
			if err == nil && s.Source != 0 {
				err = fmt.Errorf("a message of rank 0 of the other group: %+v", s)
			}
			return errors.Join(err, d.Barrier())
		}
		if d.Rank() == 0 {
			return errors.Join(d.Ssend(b, 0, 7), d.Barrier())
		}
		for round := range 2 {
			r := d.Persistent().Send(b, 0, round)
			err = errors.Join(err, r.Start())
			_, failed := r.Wait()
			err = errors.Join(err, failed)
		}
		return errors.Join(err, d.Barrier())
	})
}
