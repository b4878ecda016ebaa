package stress

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
)

var (
	flagThreads = flag.Int("threads", 0, "threads of the mix, on each number of VPs; a tenth where there are more VPs than CPUs; 0: 40,000, 100,000 with -long, 10,000 with -short")
	flagVPs     = flag.String("vps", "1,2,5", "numbers of VPs, a list")
	flagSeed    = flag.Uint64("seed", 0, "seed of the mix; 0: from the clock")
	flagLimit   = flag.Duration("limit", 2*time.Minute, "how long nothing may move before it counts as stuck")
)

// total is the number of threads of the mix.
func total() int {
	return cmp.Or(*flagThreads, effort.Choose(10_000, 40_000, 100_000))
}

// totalOn is total on that many VPs: a tenth where VPs share CPUs, since a wake-up
// then has to wait for the kernel's slices.
func totalOn(vps int) int {
	if vps > runtime.NumCPU() {
		return total() / 10
	}
	return total()
}

// configs are the schedulers to try: short slices, so that hand-offs happen all
// the time, on few VPs, one each, and more than there are cores.
func configs(t testing.TB) (all []sched.Config) {
	t.Helper()
	for text := range strings.SplitSeq(*flagVPs, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("-vps %q: write a list of numbers as in 1,2,5", *flagVPs)
		}
		all = append(all, config(n))
	}
	return all
}

func config(vps int) sched.Config {
	return sched.Config{VPs: vps, Slice: time.Millisecond, Period: 250 * time.Microsecond, IdleSpin: 20 * time.Microsecond}
}

// on starts a scheduler, calls fn with it, stops it and looks at what remains.
// fn runs on a plain goroutine; if nothing moves in it or in Stop for -limit the
// program ends with the scheduler's state and all stacks.
func on(t testing.TB, cfg sched.Config, fn func(s *sched.Scheduler)) {
	t.Helper()
	was := before(t)
	s, err := sched.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	within(t, s, func() {
		fn(s)
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	was.check(t)
}

// moved counts what goes on in the tests: while it grows nothing is stuck, however
// slow a loaded machine makes it.
var moved atomic.Int64

// within calls fn and ends the program if nothing moves in it for -limit.
func within(t testing.TB, s *sched.Scheduler, fn func()) {
	t.Helper()
	done := make(chan bool)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		last, since := moved.Load(), time.Now()
		tick := time.NewTicker(*flagLimit / 100)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if now := moved.Load(); now != last {
				last, since = now, time.Now()
			} else if time.Since(since) > *flagLimit {
				stuck(t.Name(), s)
			}
		}
	}()
	defer func() { close(done); <-ended }()
	fn()
}

func stuck(name string, s *sched.Scheduler) {
	what := fmt.Sprintf("%s: nothing has moved for %v", name, *flagLimit)
	if s == nil {
		giveUp(what)
	}
	giveUp(what, s)
}

// giveUp ends the program with all there is to know.
func giveUp(what string, all ...*sched.Scheduler) {
	fmt.Fprintln(os.Stderr, what)
	for _, s := range all {
		s.Dump(os.Stderr)
	}
	dumpTasks(os.Stderr)
	listed := make(chan bool)
	go func() {
		defer close(listed)
		for _, s := range all {
			_ = observe.WriteThreads(os.Stderr, s.Threads()) // of a dying program
		}
	}()
	select {
	case <-listed:
	case <-time.After(5 * time.Second): // a list borrows queues: it may be stuck, too
	}
	debug.SetTraceback("system") // the collector's goroutines too
	panic(what)
}

// collecting makes the collector run nearly all the time until the test ends.
func collecting(t testing.TB) {
	old := debug.SetGCPercent(5)
	t.Cleanup(func() { debug.SetGCPercent(old) })
}
