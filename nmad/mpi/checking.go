package mpi

import (
	"fmt"
	"hash/fnv"
	"os"
	"sync"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// EnvCheck is the environment variable that has every collective operation checked before it begins, if it is 1 in all
// processes of a job. The ranks tell each other what they call: operation, root, reduction, form, and how many elements
// of which kind. Where these differ all calls return ErrCall, which names a rank; without the check they might wait for
// ever. A check costs an allgather.
const EnvCheck = "PM2_MPI_CHECK"

// checking reports whether the environment asks for checks.
func checking() bool { return os.Getenv(EnvCheck) == "1" }

// report is what a rank tells the others of its call.
type report struct {
	Call     uint8 // an operationKind
	Form     form
	Root     int32
	Op       uint32 // hash of the name of the reduction; 0: it is none
	Elements int64  // basic elements, if all ranks give as many; else 0
	Kinds    uint32 // the datatype.Kind of all of these; None: there are several kinds, or no elements
}

func (rp report) String() string {
	text := operationKind(rp.Call).String()
	if int(rp.Form) < len(formNames) {
		text = formNames[rp.Form] + text
	}
	if rp.Root != noRoot {
		text += fmt.Sprintf(", root %d", rp.Root)
	}
	if rp.Op != 0 {
		name, ok := opNames.Load(rp.Op)
		if !ok {
			name = fmt.Sprintf("%#x, which is not known here", rp.Op)
		}
		text += fmt.Sprintf(", operation %v", name)
	}
	switch k := datatype.Kind(rp.Kinds); {
	case k != datatype.None:
		text += fmt.Sprintf(", %d elements of %v", rp.Elements, k)
	case rp.Elements > 0:
		text += fmt.Sprintf(", %d elements of several kinds", rp.Elements)
	}
	return text
}

// opNames has the names of reductions that were compared here, and of the predefined ones, by hash.
var opNames = func() *sync.Map {
	m := &sync.Map{}
	for _, op := range []*Op{Sum, Prod, Min, Max, BAnd, BOr, BXor, LAnd, LOr, LXor, MinLoc, MaxLoc} {
		m.Store(hashOf(op.String()), op.String())
	}
	return m
}()

// signature has the arguments of an operation in which all ranks agree.
type signature struct {
	op     *Op    // nil: it is no reduction
	buffer Buffer // how many elements of which type there are; a Buffer without a type: ranks may differ in that
}

// compare has the ranks compare what they call in an operation that has its turn. A blocking call compares before its
// first step, and returns ErrCall if calls differ. An immediate or persistent call does not wait for other ranks: for
// it a goroutine compares, which breaks the communicator if calls differ. The messages have tags of their own.
func (c *Comm) compare(f *follower, callForm form) error {
	own := report{Call: uint8(f.kind), Form: callForm, Root: int32(f.root)}
	if op := f.signature.op; op != nil {
		own.Op = hashOf(op.String())
		opNames.Store(own.Op, op.String())
	}
	if b := f.signature.buffer; b.Type != nil {
		own.Elements, own.Kinds = int64(b.Count*b.Type.Elements()), uint32(b.Type.Uniform())
	}
	all := make([]report, c.Size())
	in, err := On([]report{own})
	if err != nil {
		return err
	}
	out, err := On(all)
	if err != nil {
		return err
	}
	check := &follower{comm: c, kind: f.kind, root: noRoot, tag: f.tag | ofChecks}
	check.plan.Allgather(c.rank, c.Size(), in, &Blocks{Buffer: out, Each: 1})
	c.mu.Lock()
	c.active = append(c.active, check)
	c.mu.Unlock()
	here := fmt.Sprint(own)
	if t := f.signature.buffer.Type; t != nil && t.Uniform() == datatype.None {
		here += fmt.Sprintf(" (%v)", t)
	}
	compared := func() error {
		err := check.follow()
		if err != nil {
			c.sendRefusals([]uint64{check.tag})
		}
		c.succeeds(check, false)
		for r := 0; r < len(all) && err == nil; r++ {
			if all[r] != own {
				err = fmt.Errorf("rank %d: %w: it calls %v; here it is %s", r, ErrCall, all[r], here)
			}
		}
		return err
	}
	if callForm == blocking {
		return compared()
	}
	go func() {
		if err := compared(); err != nil {
			_ = c.fails(check, err) // no operation of the communicator goes on
		}
	}()
	return nil
}

// hashOf returns a hash of a text that is the same in all processes.
func hashOf(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return h.Sum32()
}

// whole returns the blocks of all ranks as one buffer, if they have one size, and else the zero Buffer.
func whole(b *Blocks, ranks int) Buffer {
	if b.Types != nil || b.Counts != nil || b.Type == nil {
		return Buffer{}
	}
	return Buffer{Count: b.Each * ranks, Type: b.Type}
}
