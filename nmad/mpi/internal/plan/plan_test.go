package plan

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// affine is the function x -> A x + B modulo 2^64. Functions are composed in one order only.
type affine struct{ A, B uint64 }

func (f affine) then(g affine) affine { return affine{f.A * g.A, f.A*g.B + f.B} }

var (
	element = func() *datatype.Type {
		t, err := datatype.OfGo(reflect.TypeFor[affine]())
		if err != nil {
			panic(err)
		}
		return t
	}()
	compose = reduce.User("compose", false, func(in, inout datatype.Buffer) {
		a, b := datatype.Slice[affine](in.First(), in.Count), datatype.Slice[affine](inout.First(), inout.Count)
		for i := range a {
			b[i] = a[i].then(b[i])
		}
	})
	sum = reduce.User("sum", true, func(in, inout datatype.Buffer) {
		a, b := datatype.Slice[affine](in.First(), in.Count), datatype.Slice[affine](inout.First(), inout.Count)
		for i := range a {
			b[i] = affine{a[i].A + b[i].A, a[i].B + b[i].B}
		}
	})
)

func combined(op *reduce.Op, a, b affine) affine {
	if op == compose {
		return a.then(b)
	}
	return affine{a.A + b.A, a.B + b.B}
}

func buffer(s []affine) datatype.Buffer {
	return datatype.Buffer{Base: datatype.AddressOf(s), Count: len(s), Type: element}
}

// group is a drawn call of a collective operation at all ranks.
type group struct {
	t         *rapid.T
	size      int
	root      int
	count     int
	plans     []*Plan
	in        [][]affine // of each rank, as it was
	place     bool       // in place
	shared    bool       // the ranks share memory
	table     *Table
	ordered   bool    // the plans by messages combine from the last rank to the first
	piece     int     // of that, in bytes
	hosts     []Hosts // by rank; nil: all are on one host
	twoLevels bool    // the plans are such
	op        *reduce.Op
}

func draw(t *rapid.T) *group {
	g := &group{t: t, size: rapid.IntRange(1, 16).Draw(t, "size"), count: rapid.SampledFrom([]int{0, 1, 2, 3, 17, 200, 400, 5000}).Draw(t, "count")}
	g.root = rapid.IntRange(0, g.size-1).Draw(t, "root")
	g.place = rapid.Bool().Draw(t, "in place")
	if g.shared = rapid.Bool().Draw(t, "shared"); g.shared {
		g.piece = rapid.SampledFrom([]int{16, 64, 400, 1 << 14}).Draw(t, "piece")
		g.count = min(g.count, 400)
	}
	if g.shared && rapid.Bool().Draw(t, "hosts") {
		g.seat()
	}
	bytes := func(what string) int { return rapid.SampledFrom([]int{0, 100, 1 << 12, 1 << 30}).Draw(t, what) }
	g.table = &Table{bytes("shared parts"), bytes("halving"), bytes("bcast"), bytes("reduce"), bytes("gather"), bytes("block")}
	g.ordered = rapid.Bool().Draw(t, "ordered")
	g.op = rapid.SampledFrom([]*reduce.Op{compose, sum}).Draw(t, "operation")
	return g
}

// members is what the ranks are that share memory.
func (g *group) members(rank int) Members {
	return Members{Me: rank, Size: g.size, Piece: g.piece, Slots: 4, InOrder: g.ordered}
}

// seat draws on which hosts the ranks are.
func (g *group) seat() {
	many := rapid.IntRange(1, g.size).Draw(g.t, "how many hosts")
	hosts := rapid.SliceOfN(rapid.IntRange(0, many-1), g.size, g.size).Draw(g.t, "host of each rank")
	if rapid.Bool().Draw(g.t, "contiguous") {
		slices.Sort(hosts)
	}
	g.hosts = make([]Hosts, g.size)
	for rank := range g.hosts {
		g.hosts[rank] = HostsOf(rank, hosts, g.piece, 4)
	}
}

// placed makes the plan for ranks on several hosts, or one of the others.
func (g *group) placed(rank int, hosts func(h *Hosts), shared func(m Members), apart func()) {
	if g.hosts != nil && (g.op.Commutes() || g.hosts[rank].Contiguous) {
		g.twoLevels = true
		hosts(&g.hosts[rank])
	} else {
		g.either(rank, shared, apart)
	}
}

// either makes the plan for ranks that share memory, or the other one.
func (g *group) either(rank int, shared func(m Members), apart func()) {
	if g.shared {
		shared(g.members(rank))
	} else {
		apart()
	}
}

// seats is the ranks that share memory with each.
func (g *group) seats() (all [][]int) {
	if g.hosts == nil || !g.twoLevels {
		return nil
	}
	for rank := range g.hosts {
		var here []int
		for other, seat := range g.hosts[rank].Of {
			if seat.Host == g.hosts[rank].Host {
				here = append(here, other)
			}
		}
		all = append(all, here)
	}
	return all
}

// fill gives each rank n elements of its own.
func (g *group) fill(n int) {
	g.in = make([][]affine, g.size)
	for rank := range g.in {
		g.in[rank] = values(rank, n)
	}
}

func values(rank, n int) []affine {
	s := make([]affine, n)
	for i := range s {
		s[i] = affine{uint64(rank*1000+i)*2 + 3, uint64(rank+1)*1_000_003 + uint64(i)}
	}
	return s
}

// run makes the plans of all ranks, twice with the same memory, and follows them.
func (g *group) run(plan func(rank int, p *Plan)) {
	g.plans, g.twoLevels = make([]*Plan, g.size), false
	for rank := range g.plans {
		p := &Plan{Table: g.table}
		g.plans[rank] = p
		plan(rank, p)
		p.Reset()
		plan(rank, p)
	}
	w := newWorld(rapid.Uint64().Draw(g.t, "order"), g.plans)
	w.members = g.seats()
	if err := w.run(); err != nil {
		g.t.Fatal(err)
	}
}

func (g *group) want(rank int, got, want []affine) {
	g.t.Helper()
	if len(got) != len(want) {
		g.t.Fatalf("rank %d has %d elements, want %d", rank, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			g.t.Fatalf("rank %d of %d, element %d of %d is %v, want %v", rank, g.size, i, len(got), got[i], want[i])
		}
	}
}

// prefix is the values of the ranks up to one, that excluded, combined.
func (g *group) prefix(to int) []affine {
	if to == 0 {
		return nil
	}
	acc := append([]affine(nil), g.in[0]...)
	for _, in := range g.in[1:to] {
		for i := range acc {
			acc[i] = combined(g.op, acc[i], in[i])
		}
	}
	return acc
}

func clone(s []affine) []affine { return append(make([]affine, 0, len(s)), s...) }

// half is where the values of a rank lie: in a buffer of their own, or in that of the result.
func (g *group) half(rank int, in, out []affine) datatype.Buffer {
	if g.place {
		copy(out, in)
		return datatype.Buffer{}
	}
	return buffer(in)
}

func TestBarrier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		g.plans = make([]*Plan, g.size)
		late := rapid.IntRange(0, g.size-1).Draw(t, "late")
		for rank := range g.plans {
			g.plans[rank] = &Plan{}
			if rank != late {
				g.either(rank, g.plans[rank].SharedBarrier, func() { g.plans[rank].Barrier(rank, g.size) })
			}
		}
		w := newWorld(rapid.Uint64().Draw(t, "order"), g.plans)
		_ = w.run()
		for rank := range g.plans {
			if rank != late && w.next[rank] == len(g.plans[rank].Steps) {
				t.Fatalf("rank %d goes on, rank %d has not come", rank, late)
			}
		}
		g.run(func(rank int, p *Plan) {
			g.placed(rank, p.HostsBarrier, p.SharedBarrier, func() { p.Barrier(rank, g.size) })
		})
	})
}

func TestBcast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		g.fill(g.count)
		got := make([][]affine, g.size)
		var spread *datatype.Type
		for rank := range got {
			if got[rank] = clone(g.in[rank]); rank%3 == 1 && g.count > 0 {
				got[rank] = make([]affine, 2*g.count)
				for i, x := range g.in[rank] {
					got[rank][2*i] = x
				}
				var err error
				if spread, err = datatype.Vector(g.count, 1, 2, element); err != nil {
					t.Fatal(err)
				}
			}
		}
		g.run(func(rank int, p *Plan) {
			b := buffer(got[rank])
			if rank%3 == 1 && g.count > 0 { // the same elements, as one of a datatype with gaps
				b = datatype.Buffer{Base: datatype.AddressOf(got[rank]), Count: 1, Type: spread}
			}
			g.placed(rank, func(h *Hosts) { p.HostsBcast(h, g.root, b) }, func(m Members) { p.SharedBcast(m, g.root, b) }, func() { p.Bcast(rank, g.size, g.root, b) })
		})
		for rank := range got {
			if rank%3 == 1 && g.count > 0 {
				for i := range g.count {
					got[rank][i] = got[rank][2*i]
				}
				got[rank] = got[rank][:g.count]
			}
			g.want(rank, got[rank], g.in[g.root])
		}
	})
}

func TestReduce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		g.fill(g.count)
		out, kept := make([]affine, g.count), make([][]affine, g.size)
		for rank := range kept {
			kept[rank] = clone(g.in[rank])
		}
		g.run(func(rank int, p *Plan) {
			in := buffer(g.in[rank])
			if rank == g.root {
				in = g.half(rank, g.in[rank], out)
			}
			g.placed(rank,
				func(h *Hosts) { p.HostsReduce(h, g.root, g.op, in, buffer(out)) },
				func(m Members) { p.SharedReduce(m, g.root, g.op, in, buffer(out)) },
				func() {
					if g.ordered {
						p.OrderedReduce(rank, g.size, g.root, g.op, in, buffer(out))
					} else {
						p.Reduce(rank, g.size, g.root, g.op, in, buffer(out))
					}
				})
		})
		for rank := range kept {
			g.want(rank, g.in[rank], kept[rank])
		}
		g.want(g.root, out, g.prefix(g.size))
	})
}

func TestAllreduce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		g.fill(g.count)
		out := make([][]affine, g.size)
		g.run(func(rank int, p *Plan) {
			out[rank] = make([]affine, g.count)
			in := g.half(rank, g.in[rank], out[rank])
			g.placed(rank,
				func(h *Hosts) { p.HostsAllreduce(h, g.op, in, buffer(out[rank])) },
				func(m Members) { p.SharedReduce(m, Everyone, g.op, in, buffer(out[rank])) },
				func() {
					if g.ordered {
						p.OrderedAllreduce(rank, g.size, g.op, in, buffer(out[rank]))
					} else {
						p.Allreduce(rank, g.size, g.op, in, buffer(out[rank]))
					}
				})
		})
		for rank := range out {
			g.want(rank, out[rank], g.prefix(g.size))
		}
	})
}

func TestScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		g.fill(g.count)
		out, before := make([][]affine, g.size), make([][]affine, g.size)
		g.run(func(rank int, p *Plan) {
			out[rank] = make([]affine, g.count)
			in := g.half(rank, g.in[rank], out[rank])
			g.either(rank,
				func(m Members) { p.SharedScan(m, true, g.op, in, buffer(out[rank])) },
				func() {
					if g.ordered {
						p.OrderedScan(rank, g.size, true, g.op, in, buffer(out[rank]))
					} else {
						p.Scan(rank, g.size, g.op, in, buffer(out[rank]))
					}
				})
		})
		g.run(func(rank int, p *Plan) {
			before[rank] = make([]affine, g.count)
			in := g.half(rank, g.in[rank], before[rank])
			g.either(rank,
				func(m Members) { p.SharedScan(m, false, g.op, in, buffer(before[rank])) },
				func() {
					if g.ordered {
						p.OrderedScan(rank, g.size, false, g.op, in, buffer(before[rank]))
					} else {
						p.Exscan(rank, g.size, g.op, in, buffer(before[rank]))
					}
				})
		})
		for rank := range out {
			g.want(rank, out[rank], g.prefix(rank+1))
			if rank > 0 {
				g.want(rank, before[rank], g.prefix(rank))
			}
		}
	})
}

// blocks draws how the blocks of ranks lie in a buffer, and how many elements that needs.
func (g *group) blocks() (b datatype.Blocks, all int) {
	switch rapid.IntRange(0, 2).Draw(g.t, "blocks") {
	case 0:
		b.Each = rapid.IntRange(0, 4).Draw(g.t, "each")
		return b, b.Each * g.size
	case 1:
		b.Counts = rapid.SliceOfN(rapid.IntRange(0, 4), g.size, g.size).Draw(g.t, "counts")
		for _, n := range b.Counts {
			all += n
		}
		return b, all
	}
	b.Counts = rapid.SliceOfN(rapid.IntRange(0, 4), g.size, g.size).Draw(g.t, "counts")
	order := rapid.Permutation(make([]int, g.size)).Draw(g.t, "order of blocks")
	for i := range order {
		order[i] = i
	}
	order = rapid.Permutation(order).Draw(g.t, "order of blocks")
	b.Displacements = make([]int, g.size)
	for _, rank := range order {
		b.Displacements[rank] = all
		all += b.Counts[rank] + 1
	}
	return b, all
}

func over(b datatype.Blocks, s []affine) *datatype.Blocks {
	b.Buffer = buffer(s)
	return &b
}

// elements is the block of a rank in a slice.
func elements(b datatype.Blocks, s []affine, rank int) []affine {
	x := over(b, s).Block(rank)
	if x.Count == 0 {
		return nil
	}
	return s[x.At/element.Extent():][:x.Count]
}

func TestGatherScatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		lay, n := g.blocks()
		g.in = make([][]affine, g.size)
		for rank := range g.in {
			g.in[rank] = values(rank, over(lay, make([]affine, n)).Block(rank).Count)
		}
		all := make([]affine, n)
		g.run(func(rank int, p *Plan) {
			in := buffer(g.in[rank])
			if rank == g.root && g.place {
				copy(elements(lay, all, rank), g.in[rank])
				in = datatype.Buffer{}
			}
			g.either(rank,
				func(m Members) { p.SharedGather(m, g.root, in, over(lay, all)) },
				func() { p.Gather(rank, g.size, g.root, in, over(lay, all)) })
		})
		for rank := range g.in {
			g.want(rank, elements(lay, all, rank), g.in[rank])
		}
		back := make([][]affine, g.size)
		g.run(func(rank int, p *Plan) {
			back[rank] = make([]affine, len(g.in[rank]))
			out := buffer(back[rank])
			if rank == g.root && g.place {
				out = datatype.Buffer{}
				copy(back[rank], g.in[rank])
			}
			g.either(rank,
				func(m Members) { p.SharedScatter(m, g.root, over(lay, all), out) },
				func() { p.Scatter(rank, g.size, g.root, over(lay, all), out) })
		})
		every := make([][]affine, g.size)
		g.run(func(rank int, p *Plan) {
			every[rank] = make([]affine, n)
			in := g.half(rank, g.in[rank], elements(lay, every[rank], rank))
			if g.hosts != nil && g.hosts[rank].Contiguous && lay.Counts == nil {
				g.twoLevels = true
				p.HostsAllgather(&g.hosts[rank], in, over(lay, every[rank]))
				return
			}
			g.either(rank,
				func(m Members) { p.SharedAllgather(m, in, over(lay, every[rank])) },
				func() { p.Allgather(rank, g.size, in, over(lay, every[rank])) })
		})
		for rank := range back {
			g.want(rank, back[rank], g.in[rank])
			for other := range g.in {
				g.want(rank, elements(lay, every[rank], other), g.in[other])
			}
		}
	})
}

func TestAlltoall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		n := rapid.IntRange(0, 3).Draw(t, "each")
		in, out := make([][]affine, g.size), make([][]affine, g.size)
		equal := rapid.Bool().Draw(t, "equal")
		count := func(from, to int) int { // symmetric, for in place
			if equal {
				return n
			}
			return n * (1 + (from*to+from+to)%3)
		}
		lay := func(rank int) (b datatype.Blocks, all int) {
			for other := range g.size {
				b.Counts = append(b.Counts, count(rank, other))
				all += count(rank, other)
			}
			return b, all
		}
		g.run(func(rank int, p *Plan) {
			b, all := lay(rank)
			in[rank], out[rank] = values(rank, all), make([]affine, all)
			if g.place {
				copy(out[rank], in[rank])
				p.Alltoall(rank, g.size, &datatype.Blocks{}, over(b, out[rank]))
				return
			}
			if equal {
				b = datatype.Blocks{Each: n}
			}
			g.either(rank,
				func(m Members) { p.SharedAlltoall(m, over(b, in[rank]), over(b, out[rank])) },
				func() { p.Alltoall(rank, g.size, over(b, in[rank]), over(b, out[rank])) })
		})
		for rank := range out {
			for other := range out {
				b, _ := lay(rank)
				x, _ := lay(other)
				g.want(rank, elements(b, out[rank], other), elements(x, values(other, len(in[other])), rank))
			}
		}
	})
}

func TestReduceScatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		lay, n := g.blocks()
		if lay.Displacements != nil {
			lay.Displacements, n = nil, 0
			for _, c := range lay.Counts {
				n += c
			}
		}
		g.fill(n)
		out := make([][]affine, g.size)
		g.run(func(rank int, p *Plan) {
			out[rank] = make([]affine, len(elements(lay, g.in[rank], rank)))
			in := over(lay, g.in[rank])
			g.either(rank,
				func(m Members) { p.SharedReduceScatter(m, g.op, in, buffer(out[rank])) },
				func() {
					if g.ordered {
						p.OrderedReduceScatter(rank, g.size, g.op, in, buffer(out[rank]))
					} else {
						p.ReduceScatter(rank, g.size, g.op, in, buffer(out[rank]))
					}
				})
		})
		whole := g.prefix(g.size)
		for rank := range out {
			g.want(rank, out[rank], elements(lay, whole, rank))
		}
	})
}

// TestManyHosts: of 128 ranks on 4 hosts only the leaders send messages, in a barrier and in an allreduce of 8 bytes
// as many as 4 ranks would, in two rounds; all else is pieces in memory, of which no member reads more than those of
// one group of the tree.
func TestManyHosts(t *testing.T) {
	const size, hosts = 128, 4
	of := make([]int, size)
	for rank := range of {
		of[rank] = rank / (size / hosts)
	}
	for name, make := range map[string]func(p *Plan, h *Hosts){
		"barrier": func(p *Plan, h *Hosts) { p.HostsBarrier(h) },
		"allreduce": func(p *Plan, h *Hosts) {
			x := buffer([]affine{{1, 1}})
			p.HostsAllreduce(h, sum, x, buffer([]affine{{}}))
		},
	} {
		plans, members := []*Plan{}, [][]int{}
		for rank := range size {
			h := HostsOf(rank, of, 1<<14, 16)
			p := &Plan{}
			make(p, &h)
			plans = append(plans, p)
			sends, rounds, reads := 0, 0, 0
			for _, s := range p.Steps {
				switch s.Kind {
				case Send:
					sends++
				case WaitMessages:
					rounds++
				case Take, Fold, Merge:
					reads++
				}
			}
			if leader := h.Me == 0; leader && (sends != 2 || rounds != 2) || !leader && sends+rounds != 0 {
				t.Errorf("%s: rank %d sends %d messages in %d rounds", name, rank, sends, rounds)
			}
			if reads > 2*flat+2 {
				t.Errorf("%s: rank %d reads %d pieces", name, rank, reads)
			}
			var here []int
			for r := range size {
				if of[r] == of[rank] {
					here = append(here, r)
				}
			}
			members = append(members, here)
		}
		w := newWorld(1, plans)
		w.slots, w.members = 16, members
		if err := w.run(); err != nil {
			t.Error(err)
		}
	}
}
