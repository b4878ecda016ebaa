package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// TestRing: messages of each size go round, by each kind of send and receive.
func TestRing(t *testing.T) {
	each(t, 3, func(c *Comm) error {
		next, last := (c.Rank()+1)%3, (c.Rank()+2)%3
		for i, n := range []int{0, 1, 7, 1000, 100_000} {
			out, in := make([]int32, n), make([]int32, n)
			for j := range out {
				out[j] = int32(c.Rank()*n + j)
			}
			r := Irecv(c, in, last, i)
			if err := Send(c, out, next, i); err != nil {
				return err
			}
			s, err := r.Wait()
			if err != nil || s != (Status{last, i, 4 * n}) {
				return fmt.Errorf("%+v, %w", s, err)
			}
			for j := range in {
				if in[j] != int32(last*n+j) {
					return fmt.Errorf("element %d is %d", j, in[j])
				}
			}
			x := Isend(c, out, next, 100)
			got, s, err := Recv(c, in, AnySource, AnyTag)
			if err != nil || got != n || s != (Status{last, 100, 4 * n}) {
				return fmt.Errorf("%d, %+v, %w", got, s, err)
			}
			if _, err := x.Wait(); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestDatatypes: a column goes into a row, and elements with gaps keep what lies in the gaps.
func TestDatatypes(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		const n = 300
		matrix := make([]float64, n*n)
		column, err := datatype.Vector(n, 1, n, datatype.Of(datatype.Float64))
		if err != nil {
			return err
		}
		b := Buffer{Base: datatype.AddressOf(matrix), At: 8 * 5, Count: 1, Type: column}
		if c.Rank() == 0 {
			for i := range matrix {
				matrix[i] = float64(i)
			}
			return c.Send(b, 1, 0)
		}
		row := make([]float64, n)
		if _, _, err := Recv(c, row, 0, 0); err != nil {
			return err
		}
		for i := range row {
			if row[i] != float64(i*n+5) {
				return fmt.Errorf("element %d is %v", i, row[i])
			}
		}
		return nil
	})
}

// TestWrong: what cannot be is an error that says so, and nothing hangs.
func TestWrong(t *testing.T) {
	each(t, 2, func(w *Comm) error {
		c, err := w.Dup()
		if err != nil {
			return err
		}
		for what, x := range map[string]struct{ got, want error }{
			"rank":            {Send(c, []int32{1}, 2, 0), ErrRank},
			"rank below":      {Send(c, []int32{1}, -7, 0), ErrRank},
			"tag":             {Send(c, []int32{1}, 0, -1), ErrTag},
			"any tag":         {Send(c, []int32{1}, 0, AnyTag), ErrTag},
			"any source":      {Send(c, []int32{1}, AnySource, 0), ErrRank},
			"element":         {Send(c, []string{"x"}, 0, 0), ErrType},
			"root":            {Bcast(c, []int32{1}, 2), ErrRank},
			"operation":       {Allreduce(c, BAnd, nil, []float64{1}), ErrOp},
			"operands":        {Allreduce(c, Sum, []int32{1, 2}, []int32{1}), ErrCount},
			"no operation":    {Allreduce(c, nil, nil, []int32{1}), ErrOp},
			"no communicator": {(*Comm)(nil).Barrier(), ErrComm},
			"blocks":          {c.Allgather(Buffer{}, Blocks{Counts: []int{1}}), ErrCount},
		} {
			if !errors.Is(x.got, x.want) {
				return fmt.Errorf("%s: %w, want %w", what, x.got, x.want)
			}
		}
		if err := errors.Join(Send(c, []int32{1}, ProcNull, 0), w.Barrier()); err != nil { // messages go on in c
			return err
		}
		if c.Rank() == 0 {
			return Send(c, []int32{1, 2, 3}, 1, 0)
		}
		in := make([]int32, 2)
		n, s, err := Recv(c, in, 0, 0)
		if !errors.Is(err, ErrTruncated) || n != 2 || s.Bytes != 12 || in[1] != 2 {
			return fmt.Errorf("%d, %+v, %w", n, s, err)
		}
		return nil
	})
}

// TestProbe: a message is found, and still there.
func TestProbe(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			return Send(c, []int64{1, 2}, 1, 9)
		}
		s, err := c.Probe(t.Context(), AnySource, AnyTag)
		if err != nil || s != (Status{0, 9, 16}) || s.Count(datatype.Of(datatype.Int64)) != 2 || s.Count(datatype.Of(datatype.Complex128)) != 1 {
			return fmt.Errorf("%+v, %w", s, err)
		}
		if s, there, err := c.Immediate().Probe(0, 9); !there || err != nil || s.Bytes != 16 {
			return fmt.Errorf("%+v, %v, %w", s, there, err)
		}
		if _, there, _ := c.Immediate().Probe(0, 8); there {
			return errors.New("a message is there that was not sent")
		}
		_, _, err = Recv(c, make([]int64, 2), s.Source, s.Tag)
		return err
	})
}

// TestRequestOfTheCaller: one request serves messages of all shapes, one after the other, and says so if it cannot.
func TestRequestOfTheCaller(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		peer, other := 1-c.Rank(), NewRequest(nil)
		dense, err := On([]int64{1, 2, 3, 4})
		if err != nil {
			return err
		}
		half := dense // every second element
		if half.Type, err = datatype.Vector(2, 1, 2, dense.Type); err != nil {
			return err
		}
		half.Count = 1
		var out, in Request
		for round, b := range []Buffer{dense, half, dense, half, half, dense} {
			got := make([]int64, 4)
			to, err := On(got)
			if err != nil {
				return err
			}
			to.Type, to.Count = b.Type, b.Count
			if err := in.Recv(c, to, peer, round); err != nil {
				return err
			}
			if err := in.Recv(c, to, peer, round); !errors.Is(err, nmad.ErrActive) {
				return fmt.Errorf("round %d, while it is under way: %v", round, err)
			}
			if err := c.Barrier(); err != nil {
				return err
			}
			send := out.Send
			if round%2 == 1 {
				send = out.Ssend
			}
			if err := send(c, b, peer, round); err != nil {
				return err
			}
			s, err := in.Wait()
			if err != nil {
				return err
			}
			if _, err := out.Wait(); err != nil {
				return err
			}
			want := []int64{1, 2, 3, 4}
			if b.Count == 1 {
				want = []int64{1, 0, 3, 0}
			}
			if s != (Status{Source: peer, Tag: round, Bytes: b.Size()}) || !slices.Equal(got, want) {
				return fmt.Errorf("round %d: %v, %v", round, s, got)
			}
			for _, r := range []*Request{&in, &out} { // and between them, of nothing
				if err := r.Recv(c, to, ProcNull, 0); err != nil {
					return err
				}
				if s, err := r.Wait(); s != noStatus || err != nil {
					return fmt.Errorf("round %d, of no process: %v, %v", round, s, err)
				}
			}
		}
		if err := out.Send(c, dense, peer, -5); !errors.Is(err, ErrTag) {
			return fmt.Errorf("tag -5: %v", err)
		}
		if err := other.Send(c, dense, peer, 0); !errors.Is(err, ErrRequest) {
			return fmt.Errorf("a generalized request: %v", err)
		}
		return nil
	})
}

// TestRequestNotBegun: a request with which nothing was begun, or could be, counts as done, also if it has had a
// message before.
func TestRequestNotBegun(t *testing.T) {
	each(t, 1, func(c *Comm) error {
		var r, other Request
		none := func() error {
			s, err := r.Wait()
			done, s2, err2 := r.Test()
			i, s3, err3 := WaitAny(&r)
			some, _, err4 := WaitSome(&r)
			done2, s5, err5 := TestAll(&r)
			if s != noStatus || !done || s2 != noStatus || i != 0 || s3 != noStatus || len(some) != 1 || !done2 || s5[0] != noStatus || r.Cancel() {
				return fmt.Errorf("it is %v, %v %v, %d %v, %v, %v %v", s, done, s2, i, s3, some, done2, s5)
			}
			return errors.Join(err, err2, err3, err4, err5)
		}
		if err := none(); err != nil {
			return err
		}
		in, out := some(3), some(3)
		for range 2 {
			if err := r.Recv(c, in, 5, 0); !errors.Is(err, ErrRank) {
				return fmt.Errorf("from rank 5: %w", err)
			}
			if err := none(); err != nil {
				return err
			}
			if err := errors.Join(r.Recv(c, in, 0, 7), other.Send(c, out, 0, 7)); err != nil {
				return err
			}
			if all, err := WaitAll(&r, &other); err != nil || all[0].Tag != 7 {
				return fmt.Errorf("%v, %w", all, err)
			}
		}
		return nil
	})
}
