package machine

import (
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"
)

// TestOSThreadLimits: the tightest limit counts, less a reserve of 4+16 threads, and that
// only as far as half of what is left.
func TestOSThreadLimits(t *testing.T) {
	const (
		caps   = "Name:\tx\nCapEff:\t0000000001000000\n" // CAP_SYS_RESOURCE
		admin  = "CapEff:\t0000000000200000\n"           // CAP_SYS_ADMIN
		host   = "         0          0 4294967295\n"
		inside = "         0     100000      65536\n"
	)
	none := func() (int, bool) { return 0, false }
	just := func(n int) func() (int, bool) { return func() (int, bool) { return n, true } }
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	process := func(uid uint32) *fstest.MapFile {
		return &fstest.MapFile{Mode: fs.ModeDir | 0o555, Sys: &syscall.Stat_t{Uid: uid}}
	}
	// A system of 300 threads, of which user 7 has 50 and 21.
	tree := func(extra ...string) fstest.MapFS {
		m := fstest.MapFS{
			"proc/loadavg":                file("0.71 0.40 0.19 2/300 24637\n"),
			"proc/sys/kernel/threads-max": file("100000\n"),
			"proc/sys/kernel/pid_max":     file("32768\n"),
			"proc/self/uid_map":           file(host),
			"proc/self/status":            file("CapEff:\t0000000000000000\n"),
			"proc/1":                      process(0),
			"proc/1/status":               file("Threads:\t100\n"),
			"proc/20":                     process(7),
			"proc/20/status":              file("Name:\ta\nThreads:\t50\nSigQ:\t1/2\n"),
			"proc/21":                     process(7),
			"proc/21/status":              file("Threads:\t21\n"),
			"proc/22":                     process(7), // it has just ended
			"proc/acpi":                   process(7),
			"proc/acpi/status":            file("Threads:\t1000\n"),
		}
		for i := 0; i < len(extra); i += 2 {
			if m[extra[i]] = file(extra[i+1]); extra[i+1] == "" {
				delete(m, extra[i])
			}
		}
		return m
	}
	for _, c := range []struct {
		name   string
		tree   fstest.MapFS
		uid    int
		user   func() (int, bool)
		cgroup func() (int, bool)
		want   int
	}{
		{"no limit that matters", tree(), 7, none, none, MaxThreads},
		{"nothing can be read", fstest.MapFS{}, 7, none, none, MaxThreads},
		{"the cgroup", tree(), 7, none, just(100), 80},
		{"the cgroup is generous", tree(), 7, none, just(1 << 30), MaxThreads},
		{"the cgroup leaves little", tree(), 7, none, just(30), 15},
		{"the cgroup leaves one", tree(), 7, none, just(1), 1},
		{"the cgroup leaves nothing", tree(), 7, none, just(0), 1},
		{"threads-max", tree("proc/sys/kernel/threads-max", "1320\n"), 7, none, none, 1000},
		{"pid_max", tree("proc/sys/kernel/pid_max", "1320"), 7, none, none, 1000},
		{"less than run", tree("proc/sys/kernel/pid_max", "200"), 7, none, none, 1},
		{"no loadavg: the user's threads are counted", tree("proc/loadavg", ""), 7, just(4096 + 20 + 70), none, 4095},
		{"no loadavg", tree("proc/sys/kernel/pid_max", "1020", "proc/loadavg", ""), 7, none, none, 1000},
		{"loadavg is nonsense", tree("proc/sys/kernel/pid_max", "1020", "proc/loadavg", "1 2 3 x/y"), 7, none, none, 1000},
		{"the user's limit", tree(), 7, just(1091), none, 1000},
		{"the user's limit is far away", tree("proc/20/status", "Threads:\t99999"), 7, just(300 + 4096 + 20), none, MaxThreads},
		{"another user", tree(), 8, just(1020), none, 1000},
		{"the user's limit is reached", tree(), 7, just(71), none, 1},
		{"root", tree(), 0, just(50), none, MaxThreads},
		{"root of a user namespace", tree("proc/self/uid_map", inside), 0, just(120), none, 10},
		{"the same, with few threads", tree("proc/self/uid_map", inside), 0, just(220), none, 100},
		{"CAP_SYS_RESOURCE", tree("proc/self/status", caps), 7, just(1091), none, MaxThreads},
		{"CAP_SYS_ADMIN", tree("proc/self/status", admin), 7, just(1091), none, MaxThreads},
		{"CAP_SYS_RESOURCE in a user namespace", tree("proc/self/status", caps, "proc/self/uid_map", inside), 7, just(1091), none, 1000},
		{"a kernel without user namespaces", tree("proc/self/uid_map", ""), 0, just(50), none, MaxThreads},
		{"other capabilities", tree("proc/self/status", "CapEff:\t00000000fedfffff\n\x00x"), 7, just(91), none, 10},
		{"all three", tree("proc/sys/kernel/pid_max", "1320"), 7, just(591), just(420), 400},
	} {
		l := threadLimits{root: c.tree, uid: c.uid, procs: 4, userLimit: c.user, inCgroup: c.cgroup}
		if n := l.bound(); n != c.want {
			t.Errorf("%s: %d, want %d", c.name, n, c.want)
		}
	}
}

// TestOSThreadLimitsAnything: whatever the limits are and the files say.
func TestOSThreadLimitsAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := func(name string) func() (int, bool) {
			n, ok := rapid.IntRange(0, 10000).Draw(t, name), rapid.Bool().Draw(t, "is")
			return func() (int, bool) { return n, ok }
		}
		text := func(name string) *fstest.MapFile {
			s := rapid.OneOf(rapid.String(), rapid.StringMatching(`-?[0-9]{1,25}\n?`), rapid.StringMatching(`([0-9] ){3}[0-9]{1,3}/[0-9]{1,4} 5`)).Draw(t, name)
			return &fstest.MapFile{Data: []byte(s)}
		}
		m := fstest.MapFS{}
		for _, name := range []string{"proc/loadavg", "proc/sys/kernel/threads-max", "proc/sys/kernel/pid_max", "proc/self/uid_map", "proc/self/status", "proc/1/status"} {
			m[name] = text(name)
		}
		l := threadLimits{
			root: m, uid: rapid.IntRange(0, 1).Draw(t, "uid"), procs: rapid.IntRange(1, 5000).Draw(t, "GOMAXPROCS"),
			userLimit: limit("RLIMIT_NPROC"), inCgroup: limit("pids"),
		}
		n := l.bound()
		if n < 1 || n > MaxThreads {
			t.Fatalf("bound %d", n)
		}
		if left, ok := l.inCgroup(); ok && left > 1 && n > left-min(l.procs+runtimeThreads, left/2) {
			t.Fatalf("bound %d, the cgroup lets %d start", n, left)
		}
	})
}

// TestOSThreadBoundHere reads the limits of this machine, and counts the threads of this
// process in a /proc in which it is the only one.
func TestOSThreadBoundHere(t *testing.T) {
	n := ThreadBound()
	limit, limited := softNproc()
	here := threadLimits{root: os.DirFS("/"), uid: os.Getuid()}
	t.Logf("bound %d; RLIMIT_NPROC %d (%v), exempt %v; the user has %d threads of the system's %d",
		n, limit, limited, here.exempt(), here.threadsOfUser(), here.threadsOfSystem())
	if n < 1 || n > MaxThreads {
		t.Errorf("bound %d", n)
	}
	text, ok := here.status("self", "Threads:")
	if threads, err := strconv.Atoi(text); !ok || err != nil || threads < 1 {
		t.Errorf("this process has %q threads, %v", text, ok)
	}
	if users := here.threadsOfUser(); users < 1 {
		t.Errorf("the user of this process has %d threads", users)
	}
}

func BenchmarkOSThreadBound(b *testing.B) {
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			ThreadBound()
		}
	})
	b.Run("tight", func(b *testing.B) { // each process is looked at
		l := threadLimits{
			root: os.DirFS("/"), uid: os.Getuid(), procs: runtime.GOMAXPROCS(0),
			userLimit: func() (int, bool) { return 100, true },
			inCgroup:  func() (int, bool) { return 0, false },
		}
		for b.Loop() {
			l.bound()
		}
		b.ReportMetric(float64(l.threadsOfUser()), "threads")
	})
}
