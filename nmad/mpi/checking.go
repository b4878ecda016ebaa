package mpi

import (
	"fmt"
	"hash/fnv"
	"os"
	"sync"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// EnvCheck is the environment variable that has every collective operation checked before it begins, if it is 1 in
// all processes of a job. The ranks tell each other what they call: operation, root, reduction, manner, and how many
// elements of which kind. Where these differ all get ErrCall, which names a rank, in place of waiting for ever. It
// costs an allgather each.
const EnvCheck = "PM2_MPI_CHECK"

func checking() bool { return os.Getenv(EnvCheck) == "1" }

// report is what a rank says of its call. Elements are 0 where a rank need not know.
type report struct {
	Call     uint8
	Manner   manner
	Root     int32
	Op       uint32
	Elements int64 // basic ones that all ranks give alike
	Kinds    uint32
}

func (rp report) String() string {
	text := operationKind(rp.Call).String()
	if int(rp.Manner) < len(mannerNames) {
		text = mannerNames[rp.Manner] + text
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

// opNames are the names of operations that were compared here, and of the predefined ones, by hash.
var opNames = func() *sync.Map {
	m := &sync.Map{}
	for _, op := range []*Op{Sum, Prod, Min, Max, BAnd, BOr, BXor, LAnd, LOr, LXor, MinLoc, MaxLoc} {
		m.Store(hashOf(op.String()), op.String())
	}
	return m
}()

// likewise is what all ranks give alike: an operation, or nil, and a buffer, or one without a type.
type likewise struct {
	op *Op
	b  Buffer
}

// compare compares what the ranks call in an operation that has its number. A blocking call compares before its first
// step; of another one a goroutine compares beside it, since such a call does not wait for other ranks. The messages
// are apart from those of the operations.
func (c *Comm) compare(f *follower, m manner) error {
	own := report{Call: uint8(f.what), Manner: m, Root: int32(f.root)}
	if op := f.alike.op; op != nil {
		own.Op = hashOf(op.String())
		opNames.Store(own.Op, op.String())
	}
	if b := f.alike.b; b.Type != nil {
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
	check := &follower{comm: c, what: f.what, root: noRoot, tag: f.tag | ofChecks}
	check.plan.Allgather(c.rank, c.Size(), in, &Blocks{Buffer: out, Each: 1})
	c.mu.Lock()
	c.active = append(c.active, check)
	c.mu.Unlock()
	here := fmt.Sprint(own)
	if t := f.alike.b.Type; t != nil && t.Uniform() == datatype.None {
		here += fmt.Sprintf(" (%v)", t)
	}
	compared := func() error {
		err := check.follow()
		if err != nil {
			c.aloud([]uint64{check.tag})
		}
		c.succeeds(check, false)
		for r := 0; r < len(all) && err == nil; r++ {
			if all[r] != own {
				err = fmt.Errorf("rank %d: %w: it calls %v; here it is %s", r, ErrCall, all[r], here)
			}
		}
		return err
	}
	if m == now {
		return compared()
	}
	go func() {
		if err := compared(); err != nil {
			_ = c.fails(check, err) // no operation of the communicator goes on
		}
	}()
	return nil
}

func hashOf(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return h.Sum32()
}

// whole returns the blocks of all ranks as one buffer, if all ranks give blocks of one size, and else the zero
// Buffer.
func whole(b *Blocks, ranks int) Buffer {
	if b.Types != nil || b.Counts != nil || b.Type == nil {
		return Buffer{}
	}
	return Buffer{Count: b.Each * ranks, Type: b.Type}
}
