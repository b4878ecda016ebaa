package mpi

import (
	"fmt"
	"hash/fnv"
	"os"
)

// EnvCheck is the environment variable that has every collective operation checked before it begins, if it is 1, in all processes of a job: the ranks tell each other what they call, with which root, operation and manner, and how much of which
// elements. Where these differ all get ErrCall, which names a rank, in place of waiting for ever. It costs an allgather each.
const EnvCheck = "PM2_MPI_CHECK"

func checking() bool { return os.Getenv(EnvCheck) == "1" }

// said is what a rank says of its call. Elements are 0 where a rank need not know.
type said struct {
	Call     uint8
	Later    bool
	Root     int32
	Op       uint32
	Elements int64 // basic ones that all ranks give alike
	Kinds    uint32
}

func (s said) String() string {
	text := call(s.Call).String()
	if s.Later {
		text = "immediate " + text
	}
	if s.Root != noRoot {
		text += fmt.Sprintf(", root %d", s.Root)
	}
	if s.Op != 0 {
		text += fmt.Sprintf(", operation %#x", s.Op)
	}
	return fmt.Sprintf("%s, %d elements of kind %#x", text, s.Elements, s.Kinds)
}

// likewise is what all ranks give alike: an operation, or nil, and a buffer, or one without a type.
type likewise struct {
	op *Op
	b  Buffer
}

// compare compares what the ranks say of an operation that begins: before its first step if the caller waits for its end, else beside it, since such a call does not wait for others. It goes by messages, aside from the operations of the
// communicator.
func (c *Comm) compare(f *follower, m manner, x likewise) error {
	own := said{Call: uint8(f.what), Later: m == later, Root: int32(f.root)}
	if x.op != nil {
		own.Op = hashOf(x.op.String())
	}
	if t := x.b.Type; t != nil {
		own.Elements, own.Kinds = int64(x.b.Count*t.Elements()), uint32(t.Uniform())
	}
	c.mu.Lock()
	c.checks++
	check := &follower{comm: c, what: f.what, root: noRoot, tag: c.wake | ofChecks | c.checks}
	c.active = append(c.active, check)
	c.mu.Unlock()
	if m == now {
		return c.compared(check, own)
	}
	go func() { _ = c.compared(check, own) }() // if they differ no operation of the communicator goes on
	return nil
}

func (c *Comm) compared(check *follower, own said) error {
	all := make([]said, c.Size())
	in, err := On([]said{own})
	if err != nil {
		return err
	}
	out, err := On(all)
	if err != nil {
		return err
	}
	check.plan.Allgather(c.rank, c.Size(), in, &Blocks{Buffer: out, Each: 1})
	if err := check.follow(); err != nil {
		return c.fails(check, err)
	}
	for r, other := range all {
		if other != own {
			return c.fails(check, fmt.Errorf("rank %d: %w: it calls %v; here it is %v", r, ErrCall, other, own))
		}
	}
	c.succeeds(check, false)
	return nil
}

func hashOf(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return h.Sum32()
}

// whole is the blocks of all ranks together, if they are of one size at all ranks.
func whole(b *Blocks, ranks int) Buffer {
	if b.Types != nil || b.Counts != nil || b.Type == nil {
		return Buffer{}
	}
	return Buffer{Count: b.Each * ranks, Type: b.Type}
}
