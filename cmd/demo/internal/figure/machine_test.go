package figure

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"github.com/pm2-go/pm2/sched/topo"
)

// failer is what testing and rapid have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkNests fails unless every box lies inside of the one around it, boxes do not
// overlap, and every PU's number fits into its box.
func checkNests(t failer, m *machine) {
	t.Helper()
	const slack = 0.01
	name := func(n *nest) string { return fmt.Sprintf("%s %d", n.item.Kind, n.item.Index) }
	m.root.walk(func(n *nest) {
		inside := append(append([]*nest(nil), n.children...), n.spare...)
		for i, c := range inside {
			if c.x < n.x-slack || c.y < n.y+barHeight-slack || c.x+c.w > n.x+n.w+slack || c.y+c.h > n.y+n.h+slack {
				t.Fatalf("%s (%v,%v %vx%v) sticks out of %s (%v,%v %vx%v)", name(c), c.x, c.y, c.w, c.h, name(n), n.x, n.y, n.w, n.h)
			}
			for _, d := range inside[:i] {
				if c.x < d.x+d.w-slack && d.x < c.x+c.w-slack && c.y < d.y+d.h-slack && d.y < c.y+c.h-slack {
					t.Fatalf("%s and %s overlap", name(c), name(d))
				}
			}
		}
		if shortest := n.labels[len(n.labels)-1]; m.text.Width(shortest) > n.w {
			t.Fatalf("%q does not fit into %s", shortest, name(n))
		}
	})
	if right, bottom := m.root.x+m.root.w+margin, m.root.y+m.root.h+margin; right > m.width+slack || bottom > m.height+slack {
		t.Fatalf("the machine ends at %v,%v in a picture of %vx%v", right, bottom, m.width, m.height)
	}
}

func TestNestsOfSyntheticMachines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, left := "", 256
		for _, k := range []string{"package", "numa", "die", "l3", "cluster", "l2", "l1", "core", "pu"} {
			if k == "pu" || rapid.Bool().Draw(t, k) {
				n := rapid.IntRange(1, min(left, 9)).Draw(t, "number")
				text += fmt.Sprintf("%s:%d ", k, n)
				left /= n
			}
		}
		m, err := topo.Synthetic(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		checkNests(t, newMachine(text, m, []string{strings.Repeat("a long fact ", 30)}))
	})
}

func TestNestsOfRecordedMachines(t *testing.T) {
	archives, err := filepath.Glob("../../../../sched/topo/testdata/*.tar.bz2")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, archive := range archives {
		m, err := topo.RecordedFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		checkNests(t, newMachine(m.Name, m, nil))
	}
}

// TestLikeLooksLike sees that equal parts of a machine are drawn alike.
func TestLikeLooksLike(t *testing.T) {
	m, err := topo.Synthetic("numa:4 l3:1 core:4 pu:1")
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[topo.Kind][2]vg.Length{}
	newMachine("", m, nil).root.walk(func(n *nest) {
		size := [2]vg.Length{n.w, n.h}
		if was, ok := sizes[n.item.Kind]; ok && (vg.Length.Points(was[0]-size[0]) > 0.01 || was[1] != size[1]) {
			t.Errorf("%v %d has size %v, another %v", n.item.Kind, n.item.Index, size, was)
		}
		sizes[n.item.Kind] = size
	})
}

func TestMachineFile(t *testing.T) {
	m, err := topo.Synthetic("package:2 core:2 pu:2")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "machine.svg")
	f, err := Claim(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Machine(f, "two packages", m, []string{"forbidden: none"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"two packages", "Package 1", "Core 3", ">7<", "forbidden: none", "hardware thread"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%q is not in the picture", want)
		}
	}
}
