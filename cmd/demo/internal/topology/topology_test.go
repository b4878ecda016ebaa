package topology

import (
	"strings"
	"testing"

	"github.com/pm2-go/pm2/sched/topo"
)

func TestTextOfMemoryOutside(t *testing.T) {
	m, err := topo.RecordedFile("../../../../sched/topo/testdata/fakeheteromemtiers.tar.bz2")
	if err != nil {
		t.Fatal(err)
	}
	text := Text(m)
	for _, want := range []string{
		"Machine (5.95 GiB) + Package 0 + L3 (16 MiB)\n",
		"  NUMA 1 (979 MiB)\n    L2 (4 MiB) + L1d (32 KiB) + Core 2 + PU 2\n",
		"NUMA 4 (512 MiB): memory beside that of CPUs 2-3\n",
		"1 package, 3 NUMA nodes, 1 L3 cache, 6 L2 caches, 6 L1d caches, 6 cores, 6 usable PUs\n",
		"          0    1    2    4    6    8    9\n     0   10   20   20   20   20   20   20\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	rows := Rows(m)
	last := rows[len(rows)-1].(*Row)
	if last.Name != "NUMA 3 (outside)" || *last.OS != 9 || last.CPUs != "4-5" || last.PUs != 0 || last.Parent != "" ||
		*last.Size != 393216<<10 || last.Distances != "20 20 20 20 20 20 10" {
		t.Errorf("the last row is %+v", last)
	}
}

func TestSkips(t *testing.T) {
	m, err := topo.RecordedFile("../../../../sched/topo/testdata/16amd64-8n2c-cpusets.tar.bz2")
	if err != nil {
		t.Fatal(err)
	}
	s := Skips(m)
	if len(s) != 2 || s[0].Name != "CPUs 7-11" || s[1].Name != "CPUs 4" || !strings.Contains(s[0].Why, "forbidden") || s[1].Why != "offline" {
		t.Errorf("got %+v", s)
	}
}
