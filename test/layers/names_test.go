package layers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// foreign are the names in comments that stand for nothing in the module, by what they are.
var foreign = map[string]string{
	"units and numbers":                    "kB KiB MiB GiB TiB Hz kHz NaN vCPU",
	"systems, languages, makers, products": "Linux Unix Go Kubernetes Slurm Flux Yama Promela Cilk Ethernet Intel Hygon Nvidia PowerPC Xeon Platinum Ryzen Zen Alder Lake Hyper Firecracker Google Chrome Perfetto ThreadSanitizer mpiexec.hydra mpicc.openmpi mpirun.openmpi Ctrl InfiniBand RoCE gRPC OpenGL OpenMP macOS NetBSD CoMD miniAMR GitHub",
	"the libraries after which this is made": "Marcel NewMadeleine BubbleSched Argobots FiTMPI MadMPI FxT ViTE marcel_vpset_t marcel_init marcel_end marcel_create marcel_join marcel_detach marcel_exit marcel_self marcel_yield marcel_yield_to marcel_sem_P marcel_sem_V " +
		"piom_ltask piom_cond_t nm_gate_t nm_sr_isend nm_sr_irecv nm_sr_swait nm_sr_rwait",
	"the kernel's":                    "setns io_uring test_and_set_bit ptrace_scope st_ino get_mempolicy timerfd_create timerfd_settime epoll_wait epoll_ctl prctl process_vm_readv sched_getaffinity sched_setaffinity sockaddr_un sock_extended_err pid_max pids.max pids.current cpu.max cpu.cfs_quota_us cpu.cfs_period_us core_id",
	"of Go's runtime and library":     "Ps Ms fdMutex valgrindStackID g.sched Goexit TestMain go_asm.h encoding.TextUnmarshaler net.Conn log.Fatal errgroup.Group errgroup.WithContext singleflight semaphore.Weighted p.schedtick",
	"of the library for C":            "Fortran libmpi_abi.so libpm2_mpi.so pm2_call",
	"of Kubernetes' objects":          "fsGroup backoffLimit defaultMode",
	"what MPI programs are made with": "libmpi_abi.so program.c part.c part.o table.md timeLimit autogen.sh",
	"tools":                           "gofmt chrt",
	"tags, and names with a number":   "chaos pm2-host-R",
	"the example of CONTRIBUTING.md":  "nmad/strategy/shortest.go",
	"of libfabric and Open MPI":       "psm2 psm3 opx ofi_rxm ofi_rxd fi_pingpong btl_tcp_if_include",
	"authors, and words of titles":    "FastForward Trahay Brunet Denis Song Wu Yang Acar Rainey Karlin Herault Dijkstra Treiber Vyukov Gaussian Futexes Unbalanced Algorithm Parallel Benchmarks Event Format",
}

func foreignNames() (names []string) {
	for _, of := range foreign {
		names = append(names, strings.Fields(of)...)
	}
	return names
}

// TestNames: comments name what is there.
func TestNames(t *testing.T) {
	var packages []*loaded
	if !testing.Short() { // it compiles the library
		packages = loadLibrary(t)
	}
	found, unused, err := Names(os.DirFS("../.."), module, packages, foreignNames())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Errorf("%s: mend the comment, or say in foreign of this test what it is", v)
	}
	for _, name := range unused {
		t.Errorf("no comment has the foreign name %s", name)
	}
}

// TestNamesFound: what is a name, and what is one of nothing.
func TestNamesFound(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module example.org/small\n\ngo 1.26\n",
		"lower/a.go": "package lower\n\ntype Box struct{ Size int }\n\nfunc Open() *Box { return nil }\n\nvar inside = 1\n",
		"a.go": `package small

import "example.org/small/lower"

type Queue struct{ first, last *lower.Box }

func (q *Queue) takeOne() *lower.Box { return q.first }

var _ = lower.Open() // PM2_BOX

const where = "PM2_QUEUE"
`,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const source = "a.go"
	text, err := os.ReadFile(filepath.Join(dir, source))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ comment, want string }{
		{"takeOne and takeTwo, in a.go, lower/a.go and b.go", "takeTwo, file b.go"},
		{"takeOne() calls takeTwo(), and takes(n) nothing; see open(2)", "takeTwo, takes"},
		{"Queue.takeOne, Queue.first.Size, Queue.takeTwo and Queue.first.Length", "Queue.takeTwo, Queue.first.Length"},
		{"lower.Open, lower.Box.Size, lower.Close, lower.inside and upper.Open", "lower.Close, upper.Open"},
		{"Reset is a word; the Queue, the Queues, the Box and the Size, not the Reset. Turn: Turn", "Reset"},
		{"the variables PM2_QUEUE and PM2_LIST", "PM2_LIST"},
		{"in Linux, as \"the Reset\" (Lamport, takeTwo, 1979) and https://example.org/takeTwo; RDV", ""},
		{"a program:\n//\n//\tq := Queue{}; q.takeOne(); q.takeTwo(); Reset(); lower.Close()", "q.takeTwo, lower.Close"},
		{"0x80aB, -takeTwo, /takeTwo and example.org/small", ""},
		{"snake_case and where", "snake_case"},
		{"q.first, q.takeOne, q.last.Size and q.where", "q.where"},
	} {
		commented := "// " + c.comment + "\npackage small" + strings.TrimPrefix(string(text), "package small")
		if err := os.WriteFile(filepath.Join(dir, source), []byte(commented), 0o600); err != nil {
			t.Fatal(err)
		}
		packages, err := load(dir, "./...")
		if err != nil {
			t.Fatal(err)
		}
		found, unused, err := Names(os.DirFS(dir), "example.org/small", packages, []string{"Linux", "gone"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range found {
			if !strings.HasPrefix(v.Where, source+":") {
				t.Errorf("found %s", v)
			}
			if v.What != "no program asks for PM2_BOX" {
				got = append(got, strings.TrimPrefix(strings.TrimPrefix(v.What, "there is no "), "no program asks for "))
			}
		}
		slices.Sort(got)
		want := strings.Split(c.want, ", ")
		slices.Sort(want)
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%q: found %q, want %q", c.comment, got, want)
		}
		if unused[len(unused)-1] != "gone" {
			t.Errorf("%q: unused are %q", c.comment, unused)
		}
	}
}

// TestTextsFound: what pages, models and the first words of comments name that is not there.
func TestTextsFound(t *testing.T) {
	tree := fstest.MapFS{}
	for name, text := range map[string]string{
		"a.go": "package small\n\nimport \"time\"\n\n// queue is one.\ntype Queue struct{ first int }\n\n// Grow is long.\nfunc (q *Queue) Grow() { _ = time.Now() }\n\n" +
			"// both are sentences.\nfunc (q *Queue) shrink() {}\n\n// All are well.\nvar all = 1\n",
		"docs/page.md": "`Queue.Grow`, `q.Grow(n)`, `small.Queue`, `time.Now`, `a.go`, `sub/b.go`, `sub`, `demo --growFast`, `LONG`\n" +
			"`Queue.Gone`\n`q.Vanish()`\n`small.Gone`\n`c.go`\n`sub/gone`\n```\nq.Vanish()\n```\n`takeTwo`\n",
		"docs/2026-11-28-day.md": "`small.Gone`\n",
		"docs/decision.md":       "# It\n\n`Queue.Grow`\n\n## Rejected\n\n`small.Gone`\n",
		"sub/b.go":               "package sub\n\n// Put puts.\nfunc Put() {}\n",
		"sub/testdata/m.pml":     "/* writer  b.go: Put; reader  b.go: Take, as small.Queue, small.Gone, c.go */\n#include \"d.h\"\n",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	found, _, err := Names(tree, "example.org", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range found {
		got = append(got, v.String())
	}
	slices.Sort(got)
	want := []string{
		"a.go:11: begins with both, and is on shrink",
		"a.go:5: begins with queue, and is on Queue",
		"docs/page.md:10: no code has takeTwo", "docs/page.md:10: there is no takeTwo",
		"docs/page.md:2: there is no Queue.Gone",
		"docs/page.md:3: there is no q.Vanish",
		"docs/page.md:4: there is no small.Gone",
		"docs/page.md:5: there is no file c.go",
		"docs/page.md:6: there is no sub/gone",
		"sub/testdata/m.pml:1: b.go has no Take",
		"sub/testdata/m.pml:1: there is no file c.go",
		"sub/testdata/m.pml:1: there is no small.Gone",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
