package nmad

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
	procs     []*agreement
	alive     []bool
	calls     []int       // how often each has called
	knew      [][][]int   // by process and round: the ranks that it knew to be lost when it called
	returned  [][]verdict // by process, in order
	out       []bool      // it was told that the others go on without it
	ways      [][][]note  // from, to: what is on its way
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
		w.procs = append(w.procs, newAgreement(p, n))
		w.alive[p] = true
		w.knew = append(w.knew, nil)
		w.returned = append(w.returned, nil)
		w.ways = append(w.ways, make([][]note, n))
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
	moveCall  = iota // p calls Agree
	moveTake         // p takes in what q has sent
	moveLearn        // p learns that it has lost q
	moveCrash        // p dies
	moveCut          // the link between p and q breaks
)

func (m move) String() string {
	return fmt.Sprintf([...]string{"%[1]d calls", "%[1]d hears %[2]d", "%[1]d loses %[2]d", "%[1]d dies", "%[1]d and %[2]d are cut"}[m.what], m.p, m.q)
}

// moves are all that can happen next.
func (w *world) moves() (all []move) {
	for p := range w.n {
		if !w.alive[p] {
			continue
		}
		if !w.out[p] && !w.procs[p].joined && w.calls[p] < w.rounds {
			all = append(all, move{what: moveCall, p: p})
		}
		for q := range w.n {
			if q == p || w.told[p][q] {
				continue
			}
			if len(w.ways[q][p]) > 0 {
				all = append(all, move{moveTake, p, q})
			}
			if !w.alive[q] || w.cut[p][q] || w.ended[p][q] && len(w.ways[q][p]) == 0 {
				all = append(all, move{moveLearn, p, q})
			}
		}
		if w.crashes > 0 {
			all = append(all, move{what: moveCrash, p: p})
		}
		for q := range p {
			if w.cuts > 0 && w.alive[q] && !w.cut[p][q] {
				all = append(all, move{moveCut, p, q})
			}
		}
	}
	return all
}

func (w *world) step(m move) {
	a := w.procs[m.p]
	switch m.what {
	case moveCall:
		w.knew[m.p] = append(w.knew[m.p], slices.Concat(a.agreed, a.suspects))
		a.join(bring(m.p, w.calls[m.p]), callAgree)
		w.calls[m.p]++
	case moveTake:
		n := w.ways[m.q][m.p][0]
		w.ways[m.q][m.p] = w.ways[m.q][m.p][1:]
		a.hear(m.q, n)
	case moveLearn:
		w.told[m.p][m.q] = true
		w.ways[m.q][m.p] = nil // of what a process sends last any part may get lost with it
		a.lost(m.q)
	case moveCrash:
		w.alive[m.p] = false
		w.crashes--
		return
	case moveCut:
		w.cut[m.p][m.q], w.cut[m.q][m.p] = true, true
		w.cuts--
		return
	}
	for _, d := range a.take() {
		w.do(m.p, d)
	}
}

func (w *world) do(p int, d action) {
	switch d.what {
	case doSend, doExclude:
		if w.alive[d.rank] && !w.told[d.rank][p] && !w.cut[p][d.rank] {
			w.ways[p][d.rank] = append(slices.Clip(w.ways[p][d.rank]), d.note)
		}
		if d.what == doExclude {
			w.told[p][d.rank], w.ended[d.rank][p] = true, true
			w.ways[d.rank][p] = nil
		}
	case doBlame:
		w.fail("rank %d blames rank %d: %s", p, d.rank, d.why)
	case doReturn:
		if d.out {
			w.out[p] = true
		} else {
			w.conclude(p, d.verdict)
		}
	}
}

func (w *world) fail(format string, args ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, args...)
	}
}

// conclude has p return, and looks whether it may return that.
func (w *world) conclude(p int, v verdict) {
	round := len(w.returned[p])
	w.returned[p] = append(slices.Clip(w.returned[p]), v)
	for q := range w.n {
		if len(w.returned[q]) > round {
			if x := w.returned[q][round]; x.value != v.value || !slices.Equal(x.failed, v.failed) {
				w.fail("round %d: rank %d returns %x %v, rank %d %x %v", round, p, v.value, v.failed, q, x.value, x.failed)
			}
		}
	}
	list := map[int]bool{}
	for _, v := range w.returned[p] {
		for _, r := range v.failed {
			if list[r] {
				w.fail("round %d: rank %d is in the list twice", round, r)
			}
			list[r] = true
		}
	}
	want := ^uint64(0)
	for q := range w.n {
		if list[q] {
			continue
		}
		want &= bring(q, round)
		if w.calls[q] <= round {
			w.fail("round %d: rank %d is left out and not in the list", round, q)
			continue
		}
		for _, r := range w.knew[q][round] {
			if !list[r] {
				w.fail("round %d: rank %d knew that rank %d is lost, which is not in the list", round, q, r)
			}
		}
	}
	if v.value != want || v.calls != callAgree {
		w.fail("round %d: rank %d returns %x, want %x", round, p, v.value, want)
	}
}

// still is for a world in which nothing moves any more.
func (w *world) still() {
	for p := range w.n {
		for q := range p {
			if w.cut[p][q] && w.out[p] && w.out[q] {
				w.fail("the link between %d and %d is broken, and both are left out", p, q)
			}
		}
	}
	for p := range w.n {
		if w.alive[p] && !w.out[p] && len(w.returned[p]) != w.rounds {
			w.fail("rank %d waits for ever, in agreement %d", p, len(w.returned[p]))
		}
	}
}

func (w *world) clone() *world {
	c := *w
	c.procs = slices.Clone(w.procs)
	c.alive, c.calls, c.out = slices.Clone(w.alive), slices.Clone(w.calls), slices.Clone(w.out)
	c.knew, c.returned = deep(w.knew), deep(w.returned)
	c.ways, c.told, c.cut, c.ended = deep(w.ways), deep(w.told), deep(w.cut), deep(w.ended)
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
func (w *world) key(b []byte) []byte {
	num := func(n int) { b = append(b, byte(n)) }
	flag := func(f bool) { num(map[bool]int{true: 1}[f]) }
	ranks := func(l []int) {
		num(len(l))
		for _, r := range l {
			num(r)
		}
	}
	end := func(v verdict) {
		b = binary.LittleEndian.AppendUint32(b, uint32(v.value))
		ranks(v.failed)
	}
	text := func(n note) {
		num(int(n.kind))
		num(int(n.epoch))
		num(n.by + 1)
		end(n.verdict)
		end(n.held)
	}
	num(w.crashes)
	num(w.cuts)
	for p, a := range w.procs {
		flag(w.alive[p])
		for q := range w.n {
			flag(w.told[p][q])
			flag(w.ended[p][q])
			flag(w.cut[p][q])
			num(len(w.ways[p][q]))
			for _, n := range w.ways[p][q] {
				text(n)
			}
		}
		num(len(w.returned[p]))
		for _, v := range w.returned[p] { // else two that have died would look alike
			end(v)
		}
		if !w.alive[p] {
			continue
		}
		flag(w.out[p])
		num(w.calls[p])
		num(a.by + 1)
		end(a.held)
		flag(a.joined)
		flag(a.proposing)
		num(int(a.epoch))
		ranks(a.suspects)
		for q := range w.n {
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
