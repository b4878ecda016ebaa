package bench

import (
	"context"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/uts"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// contract lists the rows that readers of the JSON rely on.
var contract = []string{
	"yield, 1 VP", "spawn+join one by one, 1 VP", "spawn+join 1000, 1 VP", "semaphore ping-pong, 1 VP",
	"semaphore ping-pong, 2 VPs", "semaphore ping-pong, each on its VP", "mutex uncontended", "mutex contended, 8 on 2 VPs", "mutex shared, 100 ns in and out, 8 on 2 VPs",
	"task submit+run+complete", "tasklet schedule+run",
	"spawn parallel, 100 x 100 us, 2 VPs over 1", "spawn to start, idle VP awake",
}

func TestNames(t *testing.T) {
	have := map[string]bool{}
	for _, n := range Names(All()) {
		if have[n] {
			t.Errorf("%q is there twice", n)
		}
		have[n] = true
	}
	for _, n := range contract {
		if !have[n] {
			t.Errorf("no row %q", n)
		}
	}
}

// measure is Measure of one row.
func measure(ctx context.Context, x *Experiment, o Options) (Outcome, error) {
	all, err := Measure(ctx, []Experiment{*x}, o)
	if err != nil {
		return Outcome{}, err
	}
	return all[0], nil
}

func isProgram(x *Experiment) bool { return strings.HasPrefix(x.Name, "program: ") }

// TestRows measures each row briefly. What it checks holds on any machine at any load.
func TestRows(t *testing.T) {
	defer goleak.VerifyNone(t)
	before := threads(t)
	rows := All()
	for i := range rows {
		x := &rows[i]
		if x.Heavy || isProgram(x) {
			continue // see TestHeavy, TestPrograms
		}
		if testing.Short() && i%4 != 0 {
			continue // neighbors vary one thing
		}
		t.Run(x.Name, func(t *testing.T) {
			o, err := measure(context.Background(), x, Options{Reps: LeastReps, Time: time.Millisecond, CPUs: binding.Allowed()})
			if err != nil {
				t.Fatal(err)
			}
			if o.Row == nil {
				if !x.Crosses || o.Skip.Name != x.Name || o.Skip.Why == "" {
					t.Errorf("skipped: %+v", o.Skip)
				}
				t.Logf("skipped: %s", o.Skip.Why)
				return
			}
			check(t, x, o.Row)
		})
	}
	// The OS threads of dozens of schedulers must not pile up. Go keeps some
	// of those that goroutines have used, so a few more than before are fine.
	if after := threads(t); after > before+25 {
		t.Errorf("%d OS threads before, %d after", before, after)
	}
}

// TestHeavy tries what the heavy rows do, once and in small.
func TestHeavy(t *testing.T) {
	defer goleak.VerifyNone(t)
	cpus := binding.Allowed()
	small := uts.T3
	small.Branches, small.Nodes = 20, 0
	small.Nodes = small.Count(small.Root())
	try := func(name string, got sample, err error) {
		if err != nil || got.ns <= 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	ours, err := perform(2, sched.LIFO, cpus, 1, func(s *stage, n int) error { return timeTrees(s.watch, n, &small, byThreads(false)) })
	try("tree", ours, err)
	peer, err := performPeer(2, 1, func(w *watch, n int) error { return timeTrees(w, n, &small, byGoroutines(true)) })
	try("tree, goroutines", peer, err)
	loop, err := performPeer(1, 1, func(w *watch, n int) error { return timeTrees(w, n, &small, byLoop) })
	try("tree, loop", loop, err)
	wrong := small
	wrong.Nodes++
	if _, err := performPeer(1, 1, func(w *watch, n int) error { return timeTrees(w, n, &wrong, byLoop) }); err == nil {
		t.Error("a wrong size went unnoticed")
	}
	ours, err = perform(2, sched.Fair, cpus, 1000, blockedOurs)
	try("blocked", ours, err)
	peer, err = performPeer(2, 1000, blockedPeer)
	try("blocked goroutines", peer, err)
	if ours.bytes < 500 || peer.bytes < 500 {
		t.Errorf("a blocked thread holds %g B, a goroutine %g B: less than a stack", ours.bytes, peer.bytes)
	}
}

func check(t *testing.T, x *Experiment, r *Row) {
	t.Helper()
	t.Log(r.Line())
	if r.Name != x.Name || r.Peer != x.PeerName || r.Better != "lower" || r.Reps < LeastReps || r.Ops < 1 {
		t.Errorf("%+v", r)
	}
	if !(0 < r.OursQ1 && r.OursQ1 <= r.Ours && r.Ours <= r.OursQ3) {
		t.Errorf("ours: %g [%g, %g]", r.Ours, r.OursQ1, r.OursQ3)
	}
	if !(0 < *r.PeerQ1 && *r.PeerQ1 <= *r.PeerNS && *r.PeerNS <= *r.PeerQ3) {
		t.Errorf("peer: %g [%g, %g]", *r.PeerNS, *r.PeerQ1, *r.PeerQ3)
	}
	// Both figures are rounded to a hundredth of a nanosecond, the ratio to four digits.
	if want := r.Ours / *r.PeerNS; math.Abs(*r.Ratio-want) > want*(1e-3+0.02/min(r.Ours, *r.PeerNS)) {
		t.Errorf("ratio %g, want %g", *r.Ratio, want)
	}
	if (r.ProbeNS != nil) != x.Crosses {
		t.Errorf("probe: %v", r.ProbeNS)
	}
	if (r.OursShare != nil) != x.Competes || (r.PeerShare != nil) != x.Competes || x.Competes && (*r.OursShare < 1 || *r.PeerShare < 1) {
		t.Errorf("shares: %v, %v", r.OursShare, r.PeerShare)
	}
	if (r.Speedup != nil) != x.Parallel {
		t.Errorf("speed-up: %v", r.Speedup)
	}
}

func threads(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip(err)
	}
	return len(entries)
}

// TestOneCPU: rows that cross cores are skipped and say why; the others run.
func TestOneCPU(t *testing.T) {
	rows := All()
	for i := range rows {
		if !rows[i].Crosses {
			continue
		}
		o, err := measure(context.Background(), &rows[i], Options{Reps: LeastReps, Time: time.Millisecond, CPUs: []int{0}})
		if err != nil || o.Row != nil || !strings.Contains(o.Skip.Why, "needs two CPUs") {
			t.Errorf("%s: %+v, %v", rows[i].Name, o, err)
		}
	}
}

// TestBroken: a row whose check fails is an error, not a figure.
func TestBroken(t *testing.T) {
	x := Experiment{Name: "broken", VPs: 1, P: 1, PeerName: "no peer",
		Ours: func(s *stage, n int) error { return counted(n-1, n) },
		Peer: func(w *watch, n int) error { return nil },
	}
	o := Options{Reps: LeastReps, Time: time.Millisecond, CPUs: binding.Allowed()} // which the process has afterwards
	if _, err := measure(context.Background(), &x, o); err == nil || !strings.Contains(err.Error(), `row "broken": the mutex`) {
		t.Error(err)
	}
	x.Ours = func(s *stage, n int) error { s.watch.begin(); marcel.Yield(); s.watch.end(); return nil }
	x.Peer = func(w *watch, n int) error { return counted(1, 2) }
	if _, err := measure(context.Background(), &x, o); err == nil {
		t.Error("the peer's error was lost")
	}
}

// TestInterrupt: a row ends when it should, within a repetition.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	cancel(enough)
	x := All()[0]
	if _, err := measure(ctx, &x, Options{Reps: 1000, Time: time.Millisecond, CPUs: binding.Allowed()}); !errors.Is(err, enough) {
		t.Error(err)
	}
}

func TestCalibrate(t *testing.T) {
	for _, test := range []struct {
		each              time.Duration // of an operation
		least, most, want int           // want: within a factor of two
	}{
		{time.Microsecond, 0, 0, 5000},
		{time.Microsecond, 1000, 0, 5000},
		{10 * time.Millisecond, 0, 4, 1},
		{10 * time.Microsecond, 0, 30, 30},
	} {
		var mu sync.Mutex
		x := Experiment{Name: "x", VPs: 1, P: 1, Least: test.least, Most: test.most,
			Ours: func(s *stage, n int) error { s.watch.set(time.Duration(n) * test.each); return nil },
			Peer: func(w *watch, n int) error {
				mu.Lock()
				defer mu.Unlock()
				w.set(time.Duration(n) * test.each / 2)
				return nil
			},
		}
		n, err := calibrate(&x, Options{Time: 5 * time.Millisecond}, []int{0})
		if err != nil || n > 2*test.want || 2*n < test.want || test.least > 0 && n%test.least != 0 {
			t.Errorf("%v each, least %d, most %d: %d operations, %v; want about %d", test.each, test.least, test.most, n, err, test.want)
		}
	}
}

// TestCalibrateInterrupted: a run that an interruption makes 30 ms longer does not decide,
// whichever it is.
func TestCalibrateInterrupted(t *testing.T) {
	for bad := range 6 {
		run := 0
		x := Experiment{Name: "x", VPs: 1, P: 1,
			Ours: func(s *stage, n int) error { s.watch.set(time.Duration(n) * time.Microsecond); return nil },
			Peer: func(w *watch, n int) error {
				took := time.Duration(n) * time.Microsecond
				if run == bad {
					took += 30 * time.Millisecond
				}
				run++
				w.set(took)
				return nil
			},
		}
		n, err := calibrate(&x, Options{Time: 5 * time.Millisecond}, []int{0})
		if err != nil || n < 2500 || n > 10_000 {
			t.Errorf("run %d interrupted: %d operations, %v; want about 5000", bad, n, err)
		}
	}
}

// TestOneRegime: repetitions of the regime that was met more often, and of no other.
func TestOneRegime(t *testing.T) {
	near, far, mixed := []float64{57, 60, 58}, []float64{265, 250, 270}, []float64{57, 265, 265}
	for _, test := range []struct {
		probes [][]float64
		want   int
		near   bool
	}{
		{[][]float64{near, near, near}, 3, true},
		{[][]float64{near, far, far, mixed}, 2, false},
		{[][]float64{near, near, far, mixed, mixed, mixed}, 2, true},
		{[][]float64{mixed, mixed}, 0, true},
		{[][]float64{nil, nil}, 2, true}, // rows that stay on one core
	} {
		var all []repetition
		for _, p := range test.probes {
			all = append(all, repetition{probes: p})
		}
		got := oneRegime(all)
		if len(got) != test.want {
			t.Errorf("%v: %d kept, want %d", test.probes, len(got), test.want)
		}
		for _, r := range got {
			if len(r.probes) > 0 && (r.probes[0] < 100) != test.near {
				t.Errorf("%v: kept %v", test.probes, r.probes)
			}
		}
	}
}

// TestPrograms runs each program once and in small, and once more with a result that is not
// the one that it is to have.
func TestPrograms(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, p := range programs() {
		for vps := max(p.from, 1); vps <= 2; vps++ {
			x := p.row(vps, p.tiny)
			wrong := p
			wrong.want = func(n int) int { return p.want(n) + 1 }
			y := wrong.row(vps, p.tiny)
			t.Run(x.Name, func(t *testing.T) {
				cpus := binding.Allowed()
				ours, err := x.ours(1, cpus)
				if err != nil || ours.ns <= 0 {
					t.Errorf("ours: %+v, %v", ours, err)
				}
				peer, err := x.peer(1, cpus)
				if err != nil || peer.ns <= 0 {
					t.Errorf("the peer: %+v, %v", peer, err)
				}
				if (ours.osThreads > 0) != strings.Contains(p.name, "<-ch") || (peer.osThreads > 0) != (ours.osThreads > 0) {
					t.Errorf("%d and %d OS threads", ours.osThreads, peer.osThreads)
				}
				if _, err := y.ours(1, cpus); err == nil {
					t.Error("a wrong result of ours went unnoticed")
				}
				if _, err := y.peer(1, cpus); err == nil {
					t.Error("a wrong result of the peer went unnoticed")
				}
			})
		}
	}
	if got := ordered([]int{1, 2, 2, 1, 3}); got != 3 {
		t.Errorf("%d elements in order, 3 are", got)
	}
}

// TestAlike: in every other repetition the peer goes first; both sides have the CPUs of the row, GOMAXPROCS as it says,
// and the process gets all its CPUs back.
func TestAlike(t *testing.T) {
	var turns strings.Builder
	var procs [2]int
	all := binding.Allowed()
	var cpus [2][]int
	x := Experiment{Name: "x", VPs: 1, P: 1, Most: 1,
		Ours: func(s *stage, n int) error {
			turns.WriteByte('o')
			s.watch.set(time.Millisecond)
			done := make(chan struct{})
			go func() { cpus[0] = binding.Allowed(); close(done) }() // not on the VP's thread, which is bound anyway
			marcel.Blocking(func() { <-done })
			procs[0] = runtime.GOMAXPROCS(0)
			return nil
		},
		Peer: func(w *watch, n int) error {
			turns.WriteByte('p')
			w.set(time.Millisecond)
			cpus[1], procs[1] = binding.Allowed(), runtime.GOMAXPROCS(0)
			return nil
		},
	}
	if _, err := measure(context.Background(), &x, Options{Reps: LeastReps, Time: time.Millisecond, CPUs: all}); err != nil {
		t.Fatal(err)
	}
	if want := "oppooppoop"; !strings.HasSuffix(turns.String(), want) {
		t.Errorf("turns %s, want %s at the end", turns.String(), want)
	}
	if procs[1] != 1 || procs[0] < 1 || procs[0] > 3 {
		t.Errorf("GOMAXPROCS is %d with ours, which adds its VP and what stands in for it, and %d with the peer, want 1", procs[0], procs[1])
	}
	if binding.Permitted() == nil {
		for side, of := range cpus {
			if !slices.Equal(of, all[:1]) {
				t.Errorf("side %d has the CPUs %v, want %v", side, of, all[:1])
			}
		}
	}
	if got := binding.Allowed(); !slices.Equal(got, all) {
		t.Errorf("afterwards the CPUs are %v, they were %v", got, all)
	}
}
