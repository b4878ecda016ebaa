package consensus

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// world is a job of a few agreements, in which everything that can happen is a move: the next step of
// one process. Which one comes next a test chooses.
type world struct {
	n, rounds int
	procs     []*Participant
	alive     []bool
	calls     []int       // how often each has called
	knew      [][][]int   // by process and round: the ranks that it knew to be lost when it called
	returned  [][]Verdict // by process, in order
	out       []bool      // it was told that the others go on without it
	ways      [][][]Note  // from, to: what is on its way
	told      [][]bool    // process, rank: it takes the rank for lost
	cut       [][]bool    // process, rank: the link between them is broken
	ended     [][]bool    // process, rank: the rank has ended its gate to it, behind what is on its way
	crashes   int         // that may still happen
	cuts      int         // links that may still break
	wrong     string
}

func newWorld(n, rounds, crashes int) *world {
	w := &world{n: n, rounds: rounds, crashes: crashes, alive: make([]bool, n), calls: make([]int, n), out: make([]bool, n)}
	for p := range n {
		w.procs = append(w.procs, New(p, n, nil))
		w.alive[p] = true
		w.knew = append(w.knew, nil)
		w.returned = append(w.returned, nil)
		w.ways = append(w.ways, make([][]Note, n))
		w.told = append(w.told, make([]bool, n))
		w.cut = append(w.cut, make([]bool, n))
		w.ended = append(w.ended, make([]bool, n))
	}
	return w
}

// bring is the value of a process: one bit is missing.
func bring(p, round int) uint64 { return ^(uint64(1) << (8*round + p)) }

// move is one thing that can happen.
type move struct{ what, p, q int }

const (
	moveCall  = iota // p calls Join
	moveTake         // p takes in what q has sent
	moveLearn        // p learns that it has lost q
	moveCrash        // p dies
	moveCut          // the link between p and q breaks
)

func (mv move) String() string {
	return fmt.Sprintf([...]string{"%[1]d calls", "%[1]d hears %[2]d", "%[1]d loses %[2]d", "%[1]d dies", "%[1]d and %[2]d are cut"}[mv.what], mv.p, mv.q)
}

// moves are all that can happen next.
func (wo *world) moves() (all []move) {
	for p := range wo.n {
		if !wo.alive[p] {
			continue
		}
		if !wo.out[p] && !wo.procs[p].joined && wo.calls[p] < wo.rounds {
			all = append(all, move{what: moveCall, p: p})
		}
		for q := range wo.n {
			if q == p || wo.told[p][q] {
				continue
			}
			if len(wo.ways[q][p]) > 0 {
				all = append(all, move{moveTake, p, q})
			}
			if !wo.alive[q] || wo.cut[p][q] || wo.ended[p][q] && len(wo.ways[q][p]) == 0 {
				all = append(all, move{moveLearn, p, q})
			}
		}
		if wo.crashes > 0 {
			all = append(all, move{what: moveCrash, p: p})
		}
		for q := range p {
			if wo.cuts > 0 && wo.alive[q] && !wo.cut[p][q] {
				all = append(all, move{moveCut, p, q})
			}
		}
	}
	return all
}

func (wo *world) step(m move) {
	a := wo.procs[m.p]
	switch m.what {
	case moveCall:
		wo.knew[m.p] = append(wo.knew[m.p], slices.Concat(a.agreed, a.suspects))
		a.Join(bring(m.p, wo.calls[m.p]), CallAgree)
		wo.calls[m.p]++
	case moveTake:
		n := wo.ways[m.q][m.p][0]
		wo.ways[m.q][m.p] = wo.ways[m.q][m.p][1:]
		a.Hear(m.q, n)
	case moveLearn:
		wo.told[m.p][m.q] = true
		wo.ways[m.q][m.p] = nil // of what a process sends last any part may get lost with it
		a.Lost(m.q)
	case moveCrash:
		wo.alive[m.p] = false
		wo.crashes--
		return
	case moveCut:
		wo.cut[m.p][m.q], wo.cut[m.q][m.p] = true, true
		wo.cuts--
		return
	}
	for _, d := range a.Actions() {
		wo.do(m.p, d)
	}
}

func (wo *world) do(p int, d Action) {
	switch d.What {
	case Send, Exclude:
		if wo.alive[d.Rank] && !wo.told[d.Rank][p] && !wo.cut[p][d.Rank] {
			wo.ways[p][d.Rank] = append(slices.Clip(wo.ways[p][d.Rank]), d.Note)
		}
		if d.What == Exclude {
			wo.told[p][d.Rank], wo.ended[d.Rank][p] = true, true
			wo.ways[d.Rank][p] = nil
		}
	case Blame:
		wo.fail("rank %d blames rank %d: %s", p, d.Rank, d.Why)
	case Return:
		if d.Excluded {
			wo.out[p] = true
		} else {
			wo.conclude(p, d.Verdict)
		}
	}
}

func (wo *world) fail(format string, args ...any) {
	if wo.wrong == "" {
		wo.wrong = fmt.Sprintf(format, args...)
	}
}

// conclude has p return, and looks whether it may return that.
func (wo *world) conclude(p int, v Verdict) {
	round := len(wo.returned[p])
	wo.returned[p] = append(slices.Clip(wo.returned[p]), v)
	for q := range wo.n {
		if len(wo.returned[q]) > round {
			if x := wo.returned[q][round]; x.Value != v.Value || !slices.Equal(x.Failed, v.Failed) {
				wo.fail("round %d: rank %d returns %x %v, rank %d %x %v", round, p, v.Value, v.Failed, q, x.Value, x.Failed)
			}
		}
	}
	list := map[int]bool{}
	for _, v := range wo.returned[p] {
		for _, r := range v.Failed {
			if list[r] {
				wo.fail("round %d: rank %d is in the list twice", round, r)
			}
			list[r] = true
		}
	}
	want := ^uint64(0)
	for q := range wo.n {
		if list[q] {
			continue
		}
		want &= bring(q, round)
		if wo.calls[q] <= round {
			wo.fail("round %d: rank %d is left out and not in the list", round, q)
			continue
		}
		for _, r := range wo.knew[q][round] {
			if !list[r] {
				wo.fail("round %d: rank %d knew that rank %d is lost, which is not in the list", round, q, r)
			}
		}
	}
	if v.Value != want || v.Calls != CallAgree {
		wo.fail("round %d: rank %d returns %x, want %x", round, p, v.Value, want)
	}
}

// still is for a world in which nothing moves any more.
func (wo *world) still() {
	for p := range wo.n {
		for q := range p {
			if wo.cut[p][q] && wo.out[p] && wo.out[q] {
				wo.fail("the link between %d and %d is broken, and both are left out", p, q)
			}
		}
	}
	for p := range wo.n {
		if wo.alive[p] && !wo.out[p] && len(wo.returned[p]) != wo.rounds {
			wo.fail("rank %d waits for ever, in agreement %d", p, len(wo.returned[p]))
		}
	}
}

func (wo *world) clone() *world {
	c := *wo
	c.procs = slices.Clone(wo.procs)
	c.alive, c.calls, c.out = slices.Clone(wo.alive), slices.Clone(wo.calls), slices.Clone(wo.out)
	c.knew, c.returned = deep(wo.knew), deep(wo.returned)
	c.ways, c.told, c.cut, c.ended = deep(wo.ways), deep(wo.told), deep(wo.cut), deep(wo.ended)
	for i, p := range c.procs {
		x := *p
		x.gone, x.accepted, x.states = slices.Clone(p.gone), slices.Clone(p.accepted), maps.Clone(p.states)
		x.agreed, x.suspects = slices.Clone(p.agreed), slices.Clone(p.suspects)
		c.procs[i] = &x
	}
	return &c
}

func deep[T any](x [][]T) [][]T {
	x = slices.Clone(x)
	for i := range x {
		x[i] = slices.Clone(x[i])
	}
	return x
}

// key tells worlds apart.
func (wo *world) key(b []byte) []byte {
	num := func(n int) { b = append(b, byte(n)) }
	flag := func(f bool) { num(map[bool]int{true: 1}[f]) }
	ranks := func(l []int) {
		num(len(l))
		for _, r := range l {
			num(r)
		}
	}
	end := func(v Verdict) {
		b = binary.LittleEndian.AppendUint32(b, uint32(v.Value))
		ranks(v.Failed)
	}
	text := func(n Note) {
		num(int(n.Kind))
		num(int(n.Epoch))
		num(n.By + 1)
		end(n.Verdict)
		end(n.Proposal)
	}
	num(wo.crashes)
	num(wo.cuts)
	for p, a := range wo.procs {
		flag(wo.alive[p])
		for q := range wo.n {
			flag(wo.told[p][q])
			flag(wo.ended[p][q])
			flag(wo.cut[p][q])
			num(len(wo.ways[p][q]))
			for _, n := range wo.ways[p][q] {
				text(n)
			}
		}
		num(len(wo.returned[p]))
		for _, v := range wo.returned[p] { // else two that have died would look alike
			end(v)
		}
		if !wo.alive[p] {
			continue
		}
		flag(wo.out[p])
		num(wo.calls[p])
		num(a.by + 1)
		end(a.proposal)
		flag(a.joined)
		flag(a.proposing)
		num(int(a.epoch))
		ranks(a.suspects)
		for q := range wo.n {
			flag(a.accepted[q])
			flag(a.gone[q])
			if s, ok := a.states[q]; ok {
				text(s)
			} else {
				num(0)
			}
		}
	}
	return b
}

// explore goes through all worlds that can come of one, and returns how many there are.
func explore(t *testing.T, first *world, limit int) int {
	type crumb struct {
		w    *world
		path []move
	}
	seen := map[string]bool{string(first.key(nil)): true}
	frontier := []crumb{{w: first}}
	var buf []byte
	for len(frontier) > 0 {
		c := frontier[len(frontier)-1]
		frontier = frontier[:len(frontier)-1]
		all := c.w.moves()
		stuck := true
		for _, m := range all {
			stuck = stuck && m.what >= moveCrash
			x := c.w.clone()
			x.step(m)
			path := append(slices.Clip(c.path), m)
			if x.wrong != "" {
				t.Fatalf("%s, after %v", x.wrong, path)
			}
			buf = x.key(buf[:0])
			if !seen[string(buf)] {
				seen[string(buf)] = true
				if len(seen) > limit {
					t.Fatalf("more than %d worlds", limit)
				}
				frontier = append(frontier, crumb{x, path})
			}
		}
		if stuck {
			if c.w.still(); c.w.wrong != "" {
				t.Fatalf("%s, after %v", c.w.wrong, c.path)
			}
		}
	}
	return len(seen)
}

// TestAgreeExhaustively goes through all orders of events of small jobs, with deaths at every moment.
func TestAgreeExhaustively(t *testing.T) {
	for _, c := range []struct {
		n, rounds, crashes, cuts int
		takes                    string // nothing: part of a second; seconds; minutes
	}{
		{2, 2, 2, 0, ""},
		{3, 1, 1, 0, ""},
		{3, 1, 2, 0, ""},
		{3, 1, 0, 1, ""},
		{3, 2, 1, 0, "seconds"},
		{3, 2, 0, 1, "seconds"},
		{4, 1, 1, 0, "seconds"},
		{4, 1, 2, 0, "minutes"},
		{4, 1, 0, 1, "seconds"},
		{4, 1, 1, 1, "minutes"},
	} {
		name := fmt.Sprintf("%d processes, %d agreements, %d deaths, %d cuts", c.n, c.rounds, c.crashes, c.cuts)
		t.Run(name, func(t *testing.T) {
			if c.takes == "seconds" && testing.Short() || c.takes == "minutes" && !effort.Long() {
				t.Skip("it takes " + c.takes + "; -long has it")
			}
			t.Parallel()
			w := newWorld(c.n, c.rounds, c.crashes)
			w.cuts = c.cuts
			t.Logf("%d worlds", explore(t, w, 1<<24))
		})
	}
}

// TestAgreeProperties plays larger jobs in random orders: with deaths, or with one link that breaks.
func TestAgreeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "processes")
		deaths := rapid.IntRange(0, n).Draw(t, "deaths")
		breaks := n >= 3 && rapid.Bool().Draw(t, "a link breaks")
		if breaks { // with a death besides, three processes are no longer connected
			deaths = min(deaths, 1, n-3)
		}
		w := newWorld(n, rapid.IntRange(1, 4).Draw(t, "agreements"), deaths)
		if breaks {
			w.cuts = 1
		}
		for steps := 0; ; steps++ {
			all := w.moves()
			live := slices.DeleteFunc(slices.Clone(all), func(m move) bool { return m.what >= moveCrash })
			if len(live) == 0 {
				break
			}
			if rapid.IntRange(0, 9).Draw(t, "fault") != 0 { // else all would die at once
				all = live
			}
			m := all[rapid.IntRange(0, len(all)-1).Draw(t, "move")]
			w.step(m)
			if w.wrong != "" {
				t.Fatalf("after %d steps, %v: %s", steps, m, w.wrong)
			}
		}
		if w.still(); w.wrong != "" {
			t.Fatal(w.wrong)
		}
	})
}
