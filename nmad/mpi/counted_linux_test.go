package mpi

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// rounds is how many operations of a kind a rank looks at, one by one.
const rounds = 20

// tally is what a rank sends in so many operations of a kind.
type tally struct {
	Least, Most int64 // messages to ranks of other hosts, in one operation
	Astray      int64 // of these, to ranks that lead no host
	Again       int64 // of these, to a rank that this one has sent a message in the same operation
	Bytes       int64 // in them
	Received    int64 // from ranks of other hosts
	Near        int64 // messages to ranks of this host, without those that wake them
	NearBytes   int64
	Wakes       int64 // messages of nothing that wake a rank of this host, which sleeps until this one writes
}

// account is what a rank finds out.
type account struct {
	Leader    int64 // the first rank of its host
	Barrier   tally
	Allreduce tally
	Immediate tally // allreduce, by messages of all: a counter that never sees one would be wrong
}

// finding is what rank 0 prints.
type finding struct {
	Way       string // that of operations, as Explain has it
	Accounts  []account
	Barrier   []float64 // us, of one operation, by sample
	Allreduce []float64
	Immediate []float64
}

// counter counts what this rank sends.
type counter struct {
	world      *Comm
	rings      []int64 // sleepers that this rank wakes, by rank
	came, left []int64 // when this rank enters a barrier and leaves it, in ns
	sum        []int64 // of an allreduce
}

// counted has each rank count what it sends, and rank 0 print that, and how long operations take.
func counted(world *Comm) error {
	x := counter{world: world, rings: make([]int64, world.Size()), sum: []int64{0}}
	for range rounds { // links, memory, credit
		err := x.barrier()
		if err == nil {
			err = x.allreduce()
		}
		if err != nil {
			return err
		}
	}
	h := world.shared
	if h == nil || h.segment == nil {
		return fmt.Errorf("rank %d shares no memory: %s", world.Rank(), Explain(world))
	}
	ring := h.ring
	h.ring = func(member int) {
		x.rings[h.ranks[member]]++
		ring(member)
	}
	f := finding{Way: Explain(world), Accounts: make([]account, world.Size())}
	own := account{Leader: int64(world.job.session.HostOf(world.Rank()))}
	// Those by messages come last, since they make more links, which are polled from then on.
	for _, operation := range []struct {
		tally *tally
		times *[]float64
		calls int
		do    func() error
	}{
		{&own.Barrier, &f.Barrier, 50, x.barrier}, {&own.Allreduce, &f.Allreduce, 50, x.allreduce}, {&own.Immediate, &f.Immediate, 4, x.immediate},
	} {
		err := x.count(operation.tally, operation.do)
		if err == nil {
			*operation.times, err = times(operation.calls, operation.do)
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(x.met(), Gather(world, []account{own}, f.Accounts, 0)); err != nil || world.Rank() != 0 {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

// barrier notes when this rank comes, and when it goes on.
func (ct *counter) barrier() error {
	ct.came = append(ct.came, clock())
	err := ct.world.Barrier()
	ct.left = append(ct.left, clock())
	return err
}

// met returns an error if a rank has left a barrier before the last one has come.
func (ct *counter) met() error {
	if err := errors.Join(Allreduce(ct.world, Max, nil, ct.came), Allreduce(ct.world, Min, nil, ct.left)); err != nil {
		return err
	}
	for i, last := range ct.came {
		if first := ct.left[i]; first < last {
			return fmt.Errorf("barrier %d: a rank leaves it %d ns before the last one comes", i, last-first)
		}
	}
	return nil
}

// allreduce adds up 8 bytes of each rank.
func (ct *counter) allreduce() error {
	return ct.right(Allreduce(ct.world, Sum, []int64{int64(ct.world.Rank()) + 1}, ct.sum))
}

// immediate is allreduce by messages.
func (ct *counter) immediate() error {
	_, err := Allreduce(ct.world.Immediate(), Sum, []int64{int64(ct.world.Rank()) + 1}, ct.sum).Wait()
	return ct.right(err)
}

// right returns err, or an error if the sum is wrong, and takes the sum away.
func (ct *counter) right(err error) error {
	n := int64(ct.world.Size())
	if want := n * (n + 1) / 2; err == nil && ct.sum[0] != want {
		err = fmt.Errorf("rank %d: the sum is %d, not %d", ct.world.Rank(), ct.sum[0], want)
	}
	ct.sum[0] = 0
	return err
}

// sent is what has gone to a rank, and come from it.
type sent struct{ messages, received, bytes, wakes int64 }

// all are the counters of the gates, by rank.
func (ct *counter) all() []sent {
	all := make([]sent, ct.world.Size())
	for rank := range all {
		if rank != ct.world.Rank() {
			s := ct.world.job.session.Gate(rank).Stats()
			all[rank] = sent{int64(s.Sends), int64(s.Recvs), int64(s.BytesSent), ct.rings[rank]}
		}
	}
	return all
}

// count does operations and counts what this rank sends in each of them. Nothing else sends meanwhile, since each has
// ended at this rank before the next.
func (ct *counter) count(y *tally, operation func() error) error {
	hostOf := ct.world.job.session.HostOf
	y.Least = math.MaxInt64
	for range rounds {
		before, far := ct.all(), int64(0)
		if err := operation(); err != nil {
			return err
		}
		for rank, now := range ct.all() {
			then := before[rank]
			messages, bytes := now.messages-then.messages, now.bytes-then.bytes
			switch leader := hostOf(rank); leader {
			case hostOf(ct.world.Rank()):
				wakes := now.wakes - then.wakes
				y.Near, y.NearBytes = y.Near+messages-wakes, y.NearBytes+bytes
				y.Wakes += wakes
			default:
				far, y.Bytes, y.Received = far+messages, y.Bytes+bytes, y.Received+now.received-then.received
				y.Again += max(messages-1, 0)
				if rank != leader {
					y.Astray += messages
				}
			}
		}
		y.Least, y.Most = min(y.Least, far), max(y.Most, far)
	}
	return nil
}

// times are samples of how long an operation takes, in us, of so many calls each.
func times(calls int, operation func() error) (us []float64, err error) {
	for range 5 {
		began := time.Now()
		for range calls {
			if err := operation(); err != nil {
				return nil, err
			}
		}
		us = append(us, float64(time.Since(began).Nanoseconds())/float64(calls)/1e3)
	}
	return us, nil
}

// clock is the time since the machine was started, in ns, the same in all processes.
func clock() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return now.Nano()
}
