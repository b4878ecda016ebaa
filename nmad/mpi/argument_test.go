package mpi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	reduction "github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// forms are the three forms of a call; init may be nil.
type forms struct {
	now         func() error
	later, init func() *Request
}

// mistakes are calls with an argument that is wrong at rank 1 of 3, and what is wrong.
var mistakes = map[string]struct {
	want error
	call func(c *Comm, wrong bool) forms
}{
	"bcast, root": {ErrRank, func(c *Comm, wrong bool) forms {
		b, root := some(3), either(wrong, 7, 0)
		return forms{func() error { return c.Bcast(b, root) }, func() *Request { return c.Immediate().Bcast(b, root) }, func() *Request { return c.Persistent().Bcast(b, root) }}
	}},
	"bcast, root below": {ErrRank, func(c *Comm, wrong bool) forms {
		b, root := some(3), either(wrong, -1, 0)
		return forms{func() error { return c.Bcast(b, root) }, func() *Request { return c.Immediate().Bcast(b, root) }, func() *Request { return c.Persistent().Bcast(b, root) }}
	}},
	"bcast, element": {ErrType, func(c *Comm, wrong bool) forms {
		if wrong {
			return forms{func() error { return Bcast(c, []string{"x"}, 0) }, func() *Request { return Bcast(c.Immediate(), []string{"x"}, 0) }, nil}
		}
		return forms{func() error { return Bcast(c, []int64{1}, 0) }, func() *Request { return Bcast(c.Immediate(), []int64{1}, 0) }, nil}
	}},
	"reduce, no result": {ErrCount, func(c *Comm, wrong bool) forms {
		in, out := some(3), some(either(wrong, 0, 3))
		return forms{func() error { return c.Reduce(Sum, in, out, 1) }, func() *Request { return c.Immediate().Reduce(Sum, in, out, 1) }, func() *Request { return c.Persistent().Reduce(Sum, in, out, 1) }}
	}},
	"allreduce, no buffers": {ErrCount, func(c *Comm, wrong bool) forms {
		in, out := some(3), some(3)
		if wrong {
			in, out = Buffer{}, Buffer{}
		}
		return forms{func() error { return c.Allreduce(Sum, in, out) }, func() *Request { return c.Immediate().Allreduce(Sum, in, out) }, func() *Request { return c.Persistent().Allreduce(Sum, in, out) }}
	}},
	"allreduce, no operation": {ErrOp, func(c *Comm, wrong bool) forms {
		b, op := some(3), either(wrong, nil, Sum)
		return forms{func() error { return c.Allreduce(op, Buffer{}, b) }, func() *Request { return c.Immediate().Allreduce(op, Buffer{}, b) }, func() *Request { return c.Persistent().Allreduce(op, Buffer{}, b) }}
	}},
	"scan, operation": {ErrOp, func(c *Comm, wrong bool) forms {
		b, op := some(3), either(wrong, MinLoc, Sum)
		return forms{func() error { return c.Scan(op, Buffer{}, b) }, func() *Request { return c.Immediate().Scan(op, Buffer{}, b) }, func() *Request { return c.Persistent().Scan(op, Buffer{}, b) }}
	}},
	"exscan, operands": {ErrCount, func(c *Comm, wrong bool) forms {
		in, out := some(3), some(either(wrong, 4, 3))
		return forms{func() error { return c.Exscan(Sum, in, out) }, func() *Request { return c.Immediate().Exscan(Sum, in, out) }, func() *Request { return c.Persistent().Exscan(Sum, in, out) }}
	}},
	"reduce-scatter, counts": {ErrCount, func(c *Comm, wrong bool) forms {
		in, out := Blocks{Buffer: some(3), Counts: []int{1, 1, 1}}, some(1)
		if wrong {
			in.Counts = in.Counts[:2]
		}
		return forms{func() error { return c.ReduceScatter(Sum, in, out) }, func() *Request { return c.Immediate().ReduceScatter(Sum, in, out) }, func() *Request { return c.Persistent().ReduceScatter(Sum, in, out) }}
	}},
	"gather, block": {ErrCount, func(c *Comm, wrong bool) forms {
		in, out := some(1), Blocks{Buffer: some(3), Counts: []int{1, 1, 1}, Displacements: []int{0, 1, either(wrong, 3, 2)}}
		return forms{func() error { return c.Gather(in, out, 1) }, func() *Request { return c.Immediate().Gather(in, out, 1) }, func() *Request { return c.Persistent().Gather(in, out, 1) }}
	}},
	"gather, long, block": {ErrCount, func(c *Comm, wrong bool) forms {
		in, out := some(100_000), Blocks{Buffer: some(300_000), Each: either(wrong, 100_001, 100_000)}
		return forms{func() error { return c.Gather(in, out, 1) }, func() *Request { return c.Immediate().Gather(in, out, 1) }, func() *Request { return c.Persistent().Gather(in, out, 1) }}
	}},
	"scatter, in place": {ErrCount, func(c *Comm, wrong bool) forms {
		in, out := Blocks{Buffer: some(3), Each: 1}, some(1)
		if wrong {
			out = Buffer{}
		}
		return forms{func() error { return c.Scatter(in, out, 0) }, func() *Request { return c.Immediate().Scatter(in, out, 0) }, func() *Request { return c.Persistent().Scatter(in, out, 0) }}
	}},
	"allgather, remainder": {ErrCount, func(c *Comm, wrong bool) forms {
		in, out := make([]int64, 1), make([]int64, either(wrong, 4, 3))
		return forms{func() error { return Allgather(c, in, out) }, func() *Request { return Allgather(c.Immediate(), in, out) }, nil}
	}},
	"alltoallv, counts": {ErrCount, func(c *Comm, wrong bool) forms {
		in, out := Blocks{Buffer: some(3), Counts: []int{1, either(wrong, -1, 1), 1}}, Blocks{Buffer: some(3), Each: 1}
		return forms{func() error { return c.Alltoall(in, out) }, func() *Request { return c.Immediate().Alltoall(in, out) }, func() *Request { return c.Persistent().Alltoall(in, out) }}
	}},
	"alltoallw, counts": {ErrCount, func(c *Comm, wrong bool) forms {
		t := datatype.Of(datatype.Int64)
		in := Blocks{Buffer: some(3), Counts: []int{1, either(wrong, -1, 1), 1}, Bytes: []int{0, 8, 16}, Types: []*datatype.Type{t, t, t}}
		out := Blocks{Buffer: some(3), Each: 1}
		return forms{func() error { return c.Alltoall(in, out) }, func() *Request { return c.Immediate().Alltoall(in, out) }, func() *Request { return c.Persistent().Alltoall(in, out) }}
	}},
}

func some(n int) Buffer {
	b, err := On(make([]int64, n))
	if err != nil {
		panic(err)
	}
	return b
}

func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// in calls one of the forms, and waits for its end.
func (fs forms) in(form string) error {
	switch form {
	case "immediate":
		_, err := fs.later().Wait()
		return err
	case "persistent":
		r := fs.init()
		if err := r.Start(); err != nil {
			return err
		}
		_, err := r.Wait()
		return err
	}
	return fs.now()
}

// together is what ranks of one process tell each other aside from messages: n of them are through.
type together struct {
	all  sync.WaitGroup
	over chan struct{}
}

func newTogether(n int) *together {
	x := &together{over: make(chan struct{})}
	x.all.Add(n)
	go func() { x.all.Wait(); close(x.over) }()
	return x
}

// wait waits for them without a call of this package, and moves messages meanwhile, as the background of a process
// does.
func (tg *together) wait(c *Comm) error {
	for began := time.Now(); time.Since(began) < 20*time.Second; {
		select {
		case <-tg.over:
			return nil
		case <-time.After(time.Millisecond):
			c.job.session.Engine().Poll()
		}
	}
	return errors.New("the others are in it still")
}

// TestMistake: an argument that is wrong at one rank fails there at once, in the same call at all others that need
// that rank, and at the latest in the next one, though that rank calls nothing any more: in all ways and forms, as
// the first operation of a communicator and later, with the calls compared or not.
func TestMistake(t *testing.T) {
	all := effort.Long() // else one case in three, others each time
	for name, x := range mistakes {
		for way, hostOf := range ways {
			for _, form := range []string{"blocking", "immediate", "persistent"} {
				for _, how := range []string{"first", "later", "compared"} {
					if how == "compared" && way != "messages" && way != "shared memory" {
						continue
					}
					if !all && rand.IntN(3) != 0 {
						continue
					}
					t.Run(strings.Join([]string{name, way, form, how}, ", "), func(t *testing.T) {
						others := newTogether(2)
						each(t, 3, func(c *Comm) error {
							c.job.hostOf, c.job.checks = hostOf, how == "compared"
							wrong := c.Rank() == 1
							call := x.call(c, wrong)
							if form == "persistent" && call.init == nil {
								return nil
							}
							if how == "later" {
								if err := errors.Join(c.Barrier(), c.Barrier()); err != nil {
									return err
								}
							}
							err := call.in(form)
							if wrong {
								if !errors.Is(err, x.want) || !strings.Contains(err.Error(), `communicator "world", rank 1 of 3`) {
									return fmt.Errorf("it says %w", err)
								}
								err = others.wait(c)
							} else {
								if err == nil {
									err = c.Barrier()
								}
								others.all.Done()
								if !known(err) {
									return fmt.Errorf("another rank: %w", err)
								}
								err = nil
							}
							if c.Barrier() == nil {
								return errors.New("an operation works after that")
							}
							return err
						})
					})
				}
			}
		}
	}
}

// TestSameMistake: where all ranks make the same mistake each is told what it is, not only that others have failed,
// and no rank fails in the operation before.
func TestSameMistake(t *testing.T) {
	at := map[string]int{"reduce, no result": 1, "gather, block": 1, "gather, long, block": 1}
	all := effort.Long() // else one case in three, others each time
	for name, x := range mistakes {
		for way, hostOf := range ways {
			for _, compared := range []bool{false, true} {
				if !all && rand.IntN(3) != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s, %s, compared %v", name, way, compared), func(t *testing.T) {
					each(t, 3, func(w *Comm) error {
						w.job.hostOf, w.job.checks = hostOf, compared
						for _, form := range []string{"blocking", "immediate", "persistent"} {
							c, err := w.Dup()
							if err != nil {
								return err
							}
							call := x.call(c, true)
							if call.init == nil && form == "persistent" {
								continue
							}
							sum := []int64{1}
							if err := errors.Join(c.Barrier(), Allreduce(c, Sum, nil, sum)); err != nil || sum[0] != 3 {
								return fmt.Errorf("before: %v, %w", sum, err)
							}
							err = call.in(form)
							if rank, one := at[name]; one && c.Rank() != rank {
								continue // it is a mistake elsewhere only
							}
							if one := strings.HasSuffix(name, "in place"); !errors.Is(err, x.want) && !(one && c.Rank() == 0) {
								return fmt.Errorf("%s: it says %w", form, err)
							}
						}
						return w.Barrier()
					})
				})
			}
		}
	}
}

// TestAheadOfMistake: ranks that need nothing of the one that has made a mistake, and call operation after operation,
// learn of it before they need it, though all that have failed call nothing any more.
func TestAheadOfMistake(t *testing.T) {
	for seed := range uint64(30) {
		for _, way := range []string{"messages", "shared memory", "two hosts, in turns"} {
			t.Run(fmt.Sprint(way, " ", seed), func(t *testing.T) {
				const size = 4
				others := newTogether(size)
				each(t, size, func(c *Comm) error {
					c.job.hostOf = ways[way]
					err := c.Barrier()
					draw := rand.New(rand.NewPCG(seed, 1))
					wrong := draw.IntN(size)
					under := []*Request{}
					for step := 0; err == nil && step < 12; step++ {
						which, root, now := draw.IntN(4), draw.IntN(size), draw.IntN(2) == 0
						if c.Rank() == wrong && step == 0 {
							root = size
						}
						call := oneOf(c, which, root)
						if now {
							err = call.now()
						} else {
							under = append(under, call.later())
						}
					}
					last := c.Barrier()
					if _, err2 := WaitAll(under...); err == nil {
						err = err2
					}
					others.all.Done()
					if last == nil || err != nil && !known(err) && !errors.Is(err, ErrRank) {
						return fmt.Errorf("the last says %v, before: %w", last, err)
					}
					return others.wait(c)
				})
			})
		}
	}
}

// oneOf is an operation in which few ranks need others.
func oneOf(c *Comm, which, root int) forms {
	one, all := some(1), Blocks{Buffer: some(c.Size()), Each: 1}
	switch which {
	case 0:
		return forms{now: func() error { return c.Gather(one, all, root) }, later: func() *Request { return c.Immediate().Gather(one, all, root) }}
	case 1:
		return forms{now: func() error { return c.Scatter(all, one, root) }, later: func() *Request { return c.Immediate().Scatter(all, one, root) }}
	case 2:
		return forms{now: func() error { return c.Bcast(one, root) }, later: func() *Request { return c.Immediate().Bcast(one, root) }}
	}
	return forms{now: func() error { return c.Reduce(Sum, one, one, root) }, later: func() *Request { return c.Immediate().Reduce(Sum, one, one, root) }}
}

// TestMistakeElsewhere: a duplicate that is made beside the program fails, too, and so do what neighbors exchange
// and what goes between groups.
func TestMistakeElsewhere(t *testing.T) {
	for name, call := range map[string]func(w *Comm, wrong bool) (mistake, other error){
		"idup": func(w *Comm, wrong bool) (mistake, other error) {
			if wrong {
				return w.Bcast(some(1), 9), nil
			}
			var d *Comm
			_ = w.Gather(some(1), Blocks{}, 1)
			_, err := Idup(w, &d).Wait()
			return nil, err
		},
		"grid": func(w *Comm, wrong bool) (mistake, other error) {
			g, err := NewCart(w, []int{w.Size()}, []bool{true})
			if err != nil {
				return err, err
			}
			err = g.NeighborAlltoall(Blocks{Buffer: some(2), Each: 1}, Blocks{Buffer: some(2), Each: either(wrong, 2, 1)})
			return err, err
		},
		"graph": func(w *Comm, wrong bool) (mistake, other error) {
			g, err := NewDistGraphAdjacent(w, []int{0, 1, 2}, []int{0, 1, 2})
			if err != nil {
				return err, err
			}
			_, err = g.Immediate().NeighborAlltoall(Blocks{Buffer: some(3), Each: 1}, Blocks{Buffer: some(3), Each: either(wrong, 2, 1)}).Wait()
			return err, err
		},
		"groups": func(w *Comm, wrong bool) (mistake, other error) {
			x, err := halves(w, 1)
			if err != nil {
				return err, err
			}
			root := either(w.Rank() == 0, Root, 0)
			err = x.Bcast(some(1), either(wrong, -1, root))
			if err == nil && !wrong {
				err = x.Barrier() // it needs none that waits for rank 1
			}
			return err, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			others := newTogether(2)
			each(t, 3, func(w *Comm) error {
				w.job.hostOf = ways["messages"]
				mistake, other := call(w, w.Rank() == 1)
				if w.Rank() == 1 {
					if mistake == nil || errors.Is(mistake, ErrElsewhere) {
						return fmt.Errorf("it says %w", mistake)
					}
					return others.wait(w)
				}
				others.all.Done()
				if !errors.Is(other, ErrElsewhere) {
					return fmt.Errorf("another rank: %w", other)
				}
				return nil
			})
		})
	}
}

// TestRemainder: what the ranks do not divide is an error that says so, where it was left out.
func TestRemainder(t *testing.T) {
	const size = 3
	for name, call := range map[string]func(c *Comm) error{
		"gather":    func(c *Comm) error { return Gather(c, make([]int64, 1), make([]int64, 4), 0) },
		"scatter":   func(c *Comm) error { return Scatter(c, make([]int64, 4), make([]int64, 1), 0) },
		"allgather": func(c *Comm) error { return Allgather(c, make([]int64, 1), make([]int64, 4)) },
		"iallgather": func(c *Comm) error {
			_, err := Allgather(c.Immediate(), make([]int64, 1), make([]int64, 4)).Wait()
			return err
		},
		"alltoall":     func(c *Comm) error { return Alltoall(c, make([]int64, 4), make([]int64, 4)) },
		"alltoall, in": func(c *Comm) error { return Alltoall(c, make([]int64, 4), make([]int64, 3)) },
		"ialltoall": func(c *Comm) error {
			_, err := Alltoall(c.Immediate(), make([]int64, 4), make([]int64, 4)).Wait()
			return err
		},
		"reduce-scatter": func(c *Comm) error { return ReduceScatter(c, Sum, make([]int64, 4), nil, make([]int64, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			errs := eachErrs(t, size, func(c *Comm) error { return errors.Join(call(c), nil) })
			if errs[0] == nil || !errors.Is(errs[0], ErrCount) || !strings.Contains(errs[0].Error(), "4 elements are no equal blocks for 3 ranks") {
				t.Errorf("it says %v", errs[0])
			}
		})
	}
	each(t, size, func(c *Comm) error { // elsewhere than at root the lengths do not matter
		in, out := make([]int64, 1), make([]int64, either(c.Rank() == 0, 3, 4))
		return errors.Join(Gather(c, in, out, 0), Scatter(c, out, in, 0))
	})
}

type mixture struct {
	A int8
	B int64
}

// TestCheckedNames: the comparison of calls names operations and elements.
func TestCheckedNames(t *testing.T) {
	own := reduction.User("mine", true, func(_, _ Buffer) {})
	for want, calls := range map[string][2]func(c *Comm) error{
		"operation max":         {func(c *Comm) error { return Allreduce(c, Sum, nil, []int64{1}) }, func(c *Comm) error { return Allreduce(c, Max, nil, []int64{1}) }},
		"operation mine":        {func(c *Comm) error { return Allreduce(c, Sum, nil, []int64{1}) }, func(c *Comm) error { return Allreduce(c, own, nil, []int64{1}) }},
		"1 elements of float64": {func(c *Comm) error { return Bcast(c, []int64{1}, 0) }, func(c *Comm) error { return Bcast(c, []float64{1}, 0) }},
		"2 elements of several kinds": {func(c *Comm) error { return Bcast(c, []int64{1}, 0) }, func(c *Comm) error {
			return Bcast(c, []struct {
				A int8
				B int64
			}{{}}, 0)
		}},
		"2 elements of several kinds (mpi.mixture)": {func(c *Comm) error { return Bcast(c, []int64{1}, 0) }, func(c *Comm) error { return Bcast(c, []mixture{{}}, 0) }},
		"calls bcast": {(*Comm).Barrier, func(c *Comm) error { return Bcast(c, []int64{1}, 0) }},
	} {
		t.Run(want, func(t *testing.T) {
			errs := eachErrs(t, 2, func(c *Comm) error {
				c.job.checks = true
				return calls[c.Rank()](c)
			})
			for rank, err := range errs {
				if rank == 0 {
					want, _, _ = strings.Cut(want, " (")
				}
				if !errors.Is(err, ErrCall) || !strings.Contains(err.Error(), want) && want != "calls bcast" || strings.Contains(err.Error(), "0x") || strings.Contains(err.Error(), "0 elements") {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			t.Log(errs[0])
		})
	}
}

// TestCount: elements of a Go type in a message, also one with gaps.
func TestCount(t *testing.T) {
	each(t, 1, func(c *Comm) error {
		send := Isend(c, make([]mixture, 3), 0, 1)
		s, err := c.Probe(t.Context(), 0, 1)
		if err != nil {
			return err
		}
		if n, bytes, none, no := Count[mixture](s), Count[byte](s), Count[[2]int64](s), Count[string](s); n != 3 || bytes != 27 || none != Undefined || no != Undefined {
			return fmt.Errorf("%d of them, %d bytes, %d and %d of others", n, bytes, none, no)
		}
		if _, _, err := Recv(c, make([]mixture, 3), 0, 1); err != nil {
			return err
		}
		_, err = send.Wait()
		return err
	})
}

// TestSendToItself: which messages to the own rank wait for their receive.
func TestSendToItself(t *testing.T) {
	each(t, 1, func(c *Comm) error {
		if err := Send(c, make([]byte, 16<<10), 0, 1); err != nil {
			return err
		}
		long := Isend(c, make([]byte, 16<<10+1), 0, 2)
		if done, _, err := long.Test(); done || err != nil {
			return fmt.Errorf("a long one is done: %v, %w", done, err)
		}
		for tag := range 2 {
			if _, _, err := Recv(c, make([]byte, 16<<10+1), 0, tag+1); err != nil {
				return err
			}
		}
		_, err := long.Wait()
		return err
	})
}
