package mpi

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/mpi/internal/segment"
)

// ways are the hosts that ranks are taken to be on; those of one share memory. Each host is this one.
var ways = map[string]func(process int) int{
	"shared memory":       nil,
	"messages":            func(int) int { return -1 },
	"two hosts":           func(p int) int { return p / 3 },
	"two hosts, in turns": func(p int) int { return p % 2 },
	"one alone":           func(p int) int { return min(p, 1) },
}

// TestCollectives: every operation, in each way, with groups of one to five, and of twelve.
func TestCollectives(t *testing.T) {
	for name, hostOf := range ways {
		for _, size := range []int{1, 2, 3, 4, 5, 12} {
			counts := []int{0, 1, 5, 2000}
			if size == 2 || size == 5 && effort.Long() {
				counts = append(counts, 100_000)
			}
			if size == 12 {
				if counts = effort.Choose([]int(nil), []int{5, 2000}, []int{0, 5, 2000}); counts == nil {
					continue
				}
			}
			t.Run(fmt.Sprintf("%s, %d ranks", name, size), func(t *testing.T) {
				each(t, size, func(c *Comm) error {
					c.job.hostOf = hostOf
					for _, n := range counts {
						for root := range size {
							if root > 2 && root < size-1 || root > 0 && root < size-1 && n == 100_000 {
								continue
							}
							if err := collectives(c, n, root); err != nil {
								return fmt.Errorf("%d elements, root %d: %w", n, root, err)
							}
						}
					}
					return nil
				})
			})
		}
	}
}

func ramp(n int, f func(i int) int64) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = f(i)
	}
	return s
}

func collectives(c *Comm, n, root int) error {
	size, rank := c.Size(), c.Rank()
	own := func(r int) func(int) int64 { return func(i int) int64 { return int64(r*1_000_000 + i) } }
	mine := ramp(n, own(rank))
	sums := func(ranks int) []int64 {
		return ramp(n, func(i int) int64 { return int64(ranks*i) + 1_000_000*int64(ranks*(ranks-1)/2) })
	}
	whole := ramp(n*size, func(i int) int64 { return int64(i/max(n, 1)*1_000_000 + i%max(n, 1)) })
	var errs []error
	try := func(what string, call error, got, want []int64) {
		if err := errors.Join(call, expect(got, want)); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
	}
	errs = append(errs, c.Barrier())
	got := append([]int64(nil), mine...)
	try("bcast", Bcast(c, got, root), got, ramp(n, own(root)))
	out := make([]int64, n)
	err := Reduce(c, Sum, mine, out, root)
	if rank == root {
		try("reduce", err, out, sums(size))
	}
	out = make([]int64, n)
	try("allreduce", Allreduce(c, Sum, mine, out), out, sums(size))
	got = append([]int64{}, mine...)
	try("allreduce in place", Allreduce(c, Max, nil, got), got, ramp(n, own(size-1)))
	out = make([]int64, n)
	try("scan", Scan(c, Sum, mine, out), out, sums(rank+1))
	out = make([]int64, n)
	try("exscan", Exscan(c, Sum, mine, out), out, sums(rank))
	all := make([]int64, n*size)
	try("allgather", Allgather(c, mine, all), all, whole)
	all = make([]int64, n*size)
	err = Gather(c, mine, all, root)
	if rank == root {
		try("gather", err, all, whole)
	}
	out = make([]int64, n)
	try("scatter", Scatter(c, whole, out, root), out, mine)
	all = make([]int64, n*size)
	err = Alltoall(c, ramp(n*size, func(i int) int64 { return int64(rank*1_000_000_000 + i) }), all)
	try("alltoall", err, all, ramp(n*size, func(i int) int64 { return int64(i/max(n, 1)*1_000_000_000 + rank*n + i%max(n, 1)) }))
	counts, to, from, sum := make([]int, size), make([]int, size), make([]int, size), 0
	for r := range counts {
		counts[r], to[r], from[r] = (n+r)%7, (rank+2*r)%5, (r+2*rank)%5
		sum += counts[r]
	}
	some := ramp(counts[rank], own(rank))
	var every []int64
	for r, k := range counts {
		every = append(every, ramp(k, own(r))...)
	}
	all = make([]int64, sum)
	try("allgatherv", Allgatherv(c, some, all, counts, nil), all, every)
	all = make([]int64, sum)
	err = Gatherv(c, some, all, counts, nil, root)
	if rank == root {
		try("gatherv", err, all, every)
	}
	out = make([]int64, counts[rank])
	try("scatterv", Scatterv(c, every, counts, nil, out, root), out, some)
	var sent, comes []int64
	for r := range size {
		sent = append(sent, ramp(to[r], func(i int) int64 { return int64(rank*1000 + r*10 + i) })...)
		comes = append(comes, ramp(from[r], func(i int) int64 { return int64(r*1000 + rank*10 + i) })...)
	}
	all = make([]int64, len(comes))
	try("alltoallv", Alltoallv(c, sent, to, all, from), all, comes)
	out = make([]int64, counts[rank])
	at := 0
	for _, k := range counts[:rank] {
		at += k
	}
	try("reduce-scatter", ReduceScatter(c, Sum, ramp(sum, func(i int) int64 { return int64(rank + i) }), counts, out), out,
		ramp(counts[rank], func(i int) int64 { return int64(size*(at+i) + size*(size-1)/2) }))
	next, last := (rank+1)%size, (rank+size-1)%size
	got = make([]int64, n)
	k, s, err := Sendrecv(c, mine, next, 3, got, last, 3)
	if err == nil && (k != n || s.Source != last) {
		err = fmt.Errorf("%d elements from rank %d, want %d from %d", k, s.Source, n, last)
	}
	try("sendrecv", err, got, ramp(n, own(last)))
	return errors.Join(errs...)
}

// TestCommunicators: messages of communicators are kept apart; those of a split have their ranks by key.
func TestCommunicators(t *testing.T) {
	each(t, 4, func(c *Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		if d.Group().Compare(c.Group()) != Identical || d.Rank() != c.Rank() || d.Size() != 4 {
			return fmt.Errorf("a dup whose processes are not those of it: %v", d)
		}
		half, err := d.Split(c.Rank()%2, -c.Rank())
		if err != nil {
			return err
		}
		if half.Size() != 2 || half.Rank() != 1-c.Rank()/2 {
			return fmt.Errorf("the half is %v", half)
		}
		sum := []int32{int32(c.Rank())}
		if err := errors.Join(Allreduce(half, Sum, nil, sum), expect(sum, []int32{int32(2 + 2*(c.Rank()%2))})); err != nil {
			return err
		}
		none, err := c.Split(map[bool]int{true: 0, false: Undefined}[c.Rank() < 3], 0)
		if err != nil || (none == nil) != (c.Rank() == 3) {
			return fmt.Errorf("%v, %w", none, err)
		}
		first, err := c.Group().Include(2, 0)
		if err != nil {
			return err
		}
		two, err := c.Create(first)
		if err != nil || (two == nil) != (c.Rank()%2 == 1) {
			return fmt.Errorf("%v, %w", two, err)
		}
		if c.Rank() == 2 {
			if err := errors.Join(Send(c, []int32{1}, 0, 0), Send(two, []int32{2}, 1, 0)); err != nil {
				return err
			}
		}
		if c.Rank() == 0 {
			a, b := []int32{0}, []int32{0}
			_, _, err1 := Recv(two, b, 0, 0)
			_, _, err2 := Recv(c, a, 2, 0)
			if err := errors.Join(err1, err2, expect(append(a, b...), []int32{1, 2})); err != nil {
				return err
			}
		}
		if err := Send(c.Self(), []int32{5}, 0, 0); err != nil {
			return err
		}
		in := []int32{0}
		if _, _, err := Recv(c.Self(), in, 0, 0); err != nil || in[0] != 5 {
			return fmt.Errorf("%v, %w", in, err)
		}
		d.Free()
		if err := d.Barrier(); !errors.Is(err, ErrComm) {
			return fmt.Errorf("a freed communicator says %w", err)
		}
		return half.Barrier()
	})
}

// TestThreadsCreate: several threads create communicators at once, each from one of its own, and use them.
func TestThreadsCreate(t *testing.T) {
	each(t, 3, func(c *Comm) error {
		const threads = 4
		from := make([]*Comm, threads)
		for i := range from {
			var err error
			if from[i], err = c.Dup(); err != nil {
				return err
			}
		}
		errs := make(chan error, threads)
		for _, d := range from {
			go func() {
				for i := range 10 {
					x, err := d.Dup()
					if err != nil {
						errs <- err
						return
					}
					sum := []int32{int32(i + x.Rank())}
					if err := errors.Join(Allreduce(x, Sum, nil, sum), expect(sum, []int32{int32(3*i + 3)})); err != nil {
						errs <- err
						return
					}
				}
				errs <- nil
			}()
		}
		var all error
		for range threads {
			all = errors.Join(all, <-errs)
		}
		return all
	})
}

// TestThreads: threads of marcel use a communicator each, at once.
func TestThreads(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		var threads []marcel.Thread
		errs := make([]error, 8)
		for i := range errs {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			threads = append(threads, marcel.Spawn(func() {
				for round := range 50 {
					sum := []float64{float64(round), float64(i)}
					if err := errors.Join(Allreduce(d, Sum, nil, sum), expect(sum, []float64{float64(2 * round), float64(2 * i)})); err != nil {
						errs[i] = err
						return
					}
				}
			}))
		}
		for _, x := range threads {
			if err := x.Join(); err != nil {
				return err
			}
		}
		return errors.Join(errs...)
	})
}

// TestCountsDiffer: ranks that say different things about how much there is are told which rank and how much, and
// nothing hangs.
func TestCountsDiffer(t *testing.T) {
	errs := eachErrs(t, 2, func(c *Comm) error {
		return Bcast(c, make([]int32, 10+c.Rank()), 0)
	})
	if errs[0] != nil || !errors.Is(errs[1], ErrCount) {
		t.Errorf("root says %v, the other %v", errs[0], errs[1])
	}
	t.Log(errs[1])
}

// TestApart: where a rank cannot map the memory of the others all go by messages, and say so; and each communicator
// says which way it goes.
func TestApart(t *testing.T) {
	for name, x := range map[string]struct {
		hostOf func(int) int
		fails  bool
		says   string
	}{
		"one cannot": {nil, true, "by messages, since a rank could not map the memory"},
		"one host":   {nil, false, "in memory that the 4 ranks share"},
		"hosts":      {ways["two hosts"], false, "within each of 2 hosts"},
		"own hosts":  {func(p int) int { return p }, false, "by messages, since each rank is on a host of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, 4, func(c *Comm) error {
				c.job.hostOf = x.hostOf
				if x.fails && c.Rank() == 2 {
					c.job.openSegment = func([]byte, int, int) (*segment.Segment, error) { return nil, errors.New("no") }
				}
				if text := Explain(c); !strings.Contains(text, "the first one decides") {
					return fmt.Errorf("before: %s", text)
				}
				if err := collectives(c, 100, 1); err != nil {
					return err
				}
				if text := Explain(c); !strings.Contains(text, x.says) {
					return fmt.Errorf("it says %s", text)
				}
				return nil
			})
		})
	}
}
