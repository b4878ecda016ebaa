package launch

import (
	"os"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/cpus"
	"github.com/pm2-go/pm2/sched/topo"
)

// TestFirstThreadBound: the first thread of the process is bound to one processor, as it is once a goroutine has ended
// locked to it; the ranks get one processor each all the same, and are not told to share it.
func TestFirstThreadBound(t *testing.T) {
	before, err := cpus.Usable()
	if err != nil {
		t.Fatal(err)
	}
	if len(before) < 2 {
		t.Skip("one processor")
	}
	wide, err := topo.Affinity(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := topo.CPUs(before[0]).Bind(os.Getpid()); err != nil {
		t.Skip("binding is forbidden: ", err)
	}
	defer func() { _ = wide.Bind(os.Getpid()) }()
	var o outputs
	j, err := Start(Spec{N: 2, Env: []string{modeVariable + "=show"}, Stdout: o.of})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Wait(); err != nil {
		t.Fatal(err)
	}
	if j.shared || len(j.CPUs(0))+len(j.CPUs(1)) != len(before) {
		t.Errorf("two ranks on processors %v have %v and %v, and share them: %v", before, j.CPUs(0), j.CPUs(1), j.shared)
	}
}
