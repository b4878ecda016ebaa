//go:build cgo && linux

package main

import (
	"github.com/pm2-go/pm2/nmad/mpi"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// reductionPart is the part of this process in a reduction.
type reductionPart uint8

const (
	givesOperand reductionPart = 1 << iota
	getsResult
	mayBeInPlace // MPI_IN_PLACE may stand for the operand, which then lies where the result goes
)

// reductionArgs reads the arguments of a reduction from the first one on: two buffers, a count, a datatype, an
// operation. It reads only the buffers that this process needs for its part. in is empty for MPI_IN_PLACE.
func (a *cCall) reductionArgs(part reductionPart) (in, out mpi.Buffer, o *mpi.Op, err error) {
	gets := part&getsResult != 0
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
	if gets {
		if out, err = a.elementsAt(1, n, t); err != nil {
			return
		}
	}
	if part&givesOperand == 0 || part&mayBeInPlace != 0 && a.inPlace(0) {
		return
	}
	if in, err = a.elementsAt(0, n, t); err == nil && gets && n > 0 && a.word[0] == a.word[1] && a.word[0] != 0 && t.typ.Size() > 0 {
		err = errorf(errBuffer, "the operand and the result are the same memory: MPI_IN_PLACE is for that")
	}
	return
}

func (a *cCall) reduce(f callForm, c *cComm) error {
	root := a.int(5)
	here, idle, err := c.checkRoot(root)
	if err != nil {
		return err
	}
	var in, out mpi.Buffer
	var o *mpi.Op
	if !idle {
		part := givesOperand
		switch {
		case here && c.inter != nil:
			part = getsResult
		case here:
			part = givesOperand | getsResult | mayBeInPlace
		}
		if in, out, o, err = a.reductionArgs(part); err != nil {
			return err
		}
	}
	if f.request == 0 {
		return c.collectives().Reduce(o, in, out, root)
	}
	return a.setCollective(c, f, f.view(c.collectives()).Reduce(o, in, out, root))
}

func (a *cCall) allreduce(f callForm, c *cComm) error {
	part := givesOperand | getsResult
	if c.inter == nil {
		part |= mayBeInPlace
	}
	in, out, o, err := a.reductionArgs(part)
	if err != nil {
		return err
	}
	if f.request == 0 {
		return c.collectives().Allreduce(o, in, out)
	}
	return a.setCollective(c, f, f.view(c.collectives()).Allreduce(o, in, out))
}

// scanWith is MPI_Scan and MPI_Exscan: wait is the blocking operation, and begin that of a view.
func (a *cCall) scanWith(f callForm, c *intraComm, wait func(c *mpi.Comm, o *mpi.Op, in, out mpi.Buffer) error, begin func(v mpi.Immediate, o *mpi.Op, in, out mpi.Buffer) *mpi.Request) error {
	in, out, o, err := a.reductionArgs(givesOperand | getsResult | mayBeInPlace)
	if err != nil {
		return err
	}
	if f.request == 0 {
		return wait(c.local, o, in, out)
	}
	return a.setCollective(c, f, begin(f.view(c.local), o, in, out))
}

func (a *cCall) scan(f callForm, c *intraComm) error {
	return a.scanWith(f, c, (*mpi.Comm).Scan, mpi.Immediate.Scan)
}

func (a *cCall) exscan(f callForm, c *intraComm) error {
	return a.scanWith(f, c, (*mpi.Comm).Exscan, mpi.Immediate.Exscan)
}

// reduceScatterWith is MPI_Reduce_scatter, and with equal MPI_Reduce_scatter_block.
func (a *cCall) reduceScatterWith(f callForm, c *cComm, equal bool) error {
	t, err := a.committed(3)
	if err != nil {
		return err
	}
	o, err := a.reduction(4, t)
	if err != nil {
		return err
	}
	size := c.local.Size()
	counts := make([]int, size)
	if equal {
		n, err := a.count(2)
		if err != nil {
			return err
		}
		for i := range counts {
			counts[i] = n
		}
	} else if counts, err = a.blockLengths(2, size); err != nil {
		return err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	own := counts[c.local.Rank()]
	out, err := a.elementsAt(1, own, t)
	if err != nil {
		return err
	}
	inPlace := c.inter == nil && a.inPlace(0)
	from := 0
	if inPlace {
		from = 1
	}
	all, err := a.elementsAt(from, total, t)
	if err != nil {
		return err
	}
	in := mpi.Blocks{Buffer: all, Counts: counts}
	if inPlace { // the input is as long as all blocks; the result overwrites its beginning
		if in.Buffer = cloneBuffer(all); f.persistent {
			refill := func() error {
				datatype.Copy(&in.Buffer, &all)
				return nil
			}
			return a.setRequest(f.request, &cRequest{comm: c, req: c.local.Persistent().ReduceScatter(o, in, out), noStatus: true, persistent: true, onStart: refill})
		}
	}
	if f.request == 0 {
		return c.collectives().ReduceScatter(o, in, out)
	}
	return a.setCollective(c, f, f.view(c.collectives()).ReduceScatter(o, in, out))
}

func (a *cCall) reduceScatter(f callForm, c *cComm) error { return a.reduceScatterWith(f, c, false) }
func (a *cCall) reduceScatterBlock(f callForm, c *cComm) error {
	return a.reduceScatterWith(f, c, true)
}
