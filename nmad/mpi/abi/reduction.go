//go:build cgo && linux

package main

import (
	"github.com/pm2-go/pm2/nmad/mpi"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// operands are the arguments of a reduction from the first one on: two buffers, a count, a datatype, an operation. In
// place the first one is the zero Buffer; needs: the second one is needed here.
func (a *cCall) operands(needs, mayBeInPlace bool) (in, out mpi.Buffer, o *mpi.Op, err error) {
	n, err := a.count(2)
	if err != nil {
		return
	}
	t, err := a.committed(3)
	if err != nil {
		return
	}
	if o, err = a.reduction(4, t); err != nil {
		return
	}
	if needs {
		if out, err = a.elementsAt(1, n, t); err != nil {
			return
		}
	}
	if mayBeInPlace && a.inPlace(0) {
		return
	}
	if in, err = a.elementsAt(0, n, t); err == nil && needs && n > 0 && a.word[0] == a.word[1] && a.word[0] != 0 && t.t.Size() > 0 {
		err = wrong(errBuffer, "the operand and the result are the same memory: MPI_IN_PLACE is for that")
	}
	return
}

func (a *cCall) reduce(f callForm, c *cComm) error {
	root := a.int(5)
	here, idle, err := c.rooted(root)
	if err != nil {
		return err
	}
	var in, out mpi.Buffer
	var o *mpi.Op
	switch {
	case idle:
	case c.x != nil && here:
		n, e := a.count(2)
		if e != nil {
			return e
		}
		t, e := a.committed(3)
		if e != nil {
			return e
		}
		if o, err = a.reduction(4, t); err == nil {
			out, err = a.elementsAt(1, n, t)
		}
	default:
		in, out, o, err = a.operands(here, here)
	}
	if err != nil {
		return err
	}
	if f.request == 0 {
		return c.collectives().Reduce(o, in, out, root)
	}
	return a.begun(c, f, f.of(c.collectives()).Reduce(o, in, out, root))
}

func (a *cCall) allreduce(f callForm, c *cComm) error {
	in, out, o, err := a.operands(true, c.x == nil)
	if err != nil {
		return err
	}
	if f.request == 0 {
		return c.collectives().Allreduce(o, in, out)
	}
	return a.begun(c, f, f.of(c.collectives()).Allreduce(o, in, out))
}

func (a *cCall) scan(f callForm, c *intraComm) error {
	in, out, o, err := a.operands(true, true)
	if err != nil {
		return err
	}
	if f.request == 0 {
		return c.c.Scan(o, in, out)
	}
	return a.begun(c, f, f.of(c.c).Scan(o, in, out))
}

func (a *cCall) exscan(f callForm, c *intraComm) error {
	in, out, o, err := a.operands(true, true)
	if err != nil {
		return err
	}
	if f.request == 0 {
		return c.c.Exscan(o, in, out)
	}
	return a.begun(c, f, f.of(c.c).Exscan(o, in, out))
}

// reduceScatterAs has blocks of counts, or equal ones.
func (a *cCall) reduceScatterAs(f callForm, c *cComm, equal bool) error {
	t, err := a.committed(3)
	if err != nil {
		return err
	}
	o, err := a.reduction(4, t)
	if err != nil {
		return err
	}
	size := c.c.Size()
	counts := make([]int, size)
	if equal {
		n, err := a.count(2)
		if err != nil {
			return err
		}
		for i := range counts {
			counts[i] = n
		}
	} else if counts, err = a.lengths(2, size); err != nil {
		return err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	own := counts[c.c.Rank()]
	out, err := a.elementsAt(1, own, t)
	if err != nil {
		return err
	}
	inPlace := c.x == nil && a.inPlace(0)
	from := 0
	if inPlace {
		from = 1
	}
	all, err := a.elementsAt(from, total, t)
	if err != nil {
		return err
	}
	in := mpi.Blocks{Buffer: all, Counts: counts}
	if inPlace { // what is reduced is as long as all blocks, and its result goes to the first
		if in.Buffer = copied(all); f.persistent {
			again := func() error {
				datatype.Copy(&in.Buffer, &all)
				return nil
			}
			return a.setRequest(f.request, &cRequest{comm: c, r: c.c.Persistent().ReduceScatter(o, in, out), sends: true, persistent: true, begin: again})
		}
	}
	if f.request == 0 {
		return c.collectives().ReduceScatter(o, in, out)
	}
	return a.begun(c, f, f.of(c.collectives()).ReduceScatter(o, in, out))
}

func (a *cCall) reduceScatter(f callForm, c *cComm) error      { return a.reduceScatterAs(f, c, false) }
func (a *cCall) reduceScatterBlock(f callForm, c *cComm) error { return a.reduceScatterAs(f, c, true) }
