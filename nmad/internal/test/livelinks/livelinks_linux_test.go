package livelinks

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
)

var (
	fuzzLinks     = flag.Duration("fuzz-links", 0, "how long TestLiveLinks looks for trouble; 0: 2s, with -short 1s, with -long 20s")
	fuzzLinksSeed = flag.Uint64("fuzz-links.seed", 0, "the one case that TestLiveLinks runs; 0: new ones")
	fuzzLinksMany = flag.Int("fuzz-links.many", 3, "how many cases with all ranks in one process TestLiveLinks runs at once")
	fuzzLinksOnly = flag.String("fuzz-links.only", "", "theme of all cases of TestLiveLinks, such as headers; empty: all of them")
)

// TestLiveLinks: jobs of two and three ranks exchange messages of all sizes, over real sockets that go through proxies,
// which alter, cut and invent what passes: before the proof of the secret, in it and after it, on links and control
// connections, and in shared memory.
//
//	go test ./nmad/internal/test/livelinks -run TestLiveLinks -fuzz-links 1h -timeout 0 -v
//	go test ./nmad/internal/test/livelinks -run TestLiveLinks -fuzz-links.seed 123
//
// Whatever happens, each request ends: with the right bytes, or with an error that names the peer and the reason. Bytes
// that are wrong count as right only if bytes of links were altered after the proofs, which no process signs; where these
// were bytes of messages only, as many are wrong at most, and all else goes well. Nothing panics, hangs, writes beside or
// into buffers that it must not touch any more, takes memory that was not granted, or leaves anything behind.
//
// The cases run in processes of their own, so that the end of one is seen, and what is left of a case is not that of
// another test: all ranks of a case in one, or each in one.
func TestLiveLinks(t *testing.T) {
	l := &liveRun{t: t, began: time.Now(), outcomes: map[string]map[string]int{}, fields: map[string]map[string]int{}, kinds: map[string]int{}, places: map[string]int{}, errors: map[string]int{}}
	l.next.Store(rand.Uint64() >> 20)
	if *fuzzLinksSeed != 0 {
		l.single(*fuzzLinksSeed)
		l.summary()
		return
	}
	long := *fuzzLinks
	if long == 0 {
		long = effort.Of(20 * time.Second)
	}
	l.until = l.began.Add(long)
	var all sync.WaitGroup
	for range *fuzzLinksMany {
		all.Go(func() { l.together() })
	}
	all.Go(func() { l.separately() })
	over := make(chan struct{})
	var told sync.WaitGroup
	told.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(5 * time.Minute):
				l.summary()
			}
		}
	})
	all.Wait()
	close(over)
	told.Wait()
	l.summary()
}

// liveRun is a run of the test.
type liveRun struct {
	t     *testing.T
	began time.Time
	until time.Time
	next  atomic.Uint64 // seed

	mu       sync.Mutex
	cases    int
	apart    int
	bytes    uint64
	volume   uint64
	outcomes map[string]map[string]int // by theme
	fields   map[string]map[string]int // outcomes of cases in which bits of one part of headers were flipped, and nothing else
	kinds    map[string]int            // of alterations
	places   map[string]int            // bytes that were altered
	errors   map[string]int            // how requests ended
	grown    uint64
	threads  int
	opening  time.Duration // the longest
	closing  time.Duration
	failures int
}

// draw gives the next case of that kind.
func (run *liveRun) draw(apart bool) *liveCase {
	for {
		c := newLiveCase(run.next.Add(1))
		if c.apart == apart && (*fuzzLinksOnly == "" || c.theme == *fuzzLinksOnly) {
			return c
		}
	}
}

// goesOn says whether there is time for another case, and sense in it.
func (run *liveRun) goesOn() bool {
	run.mu.Lock()
	defer run.mu.Unlock()
	return time.Now().Before(run.until) && run.failures < 20
}

// together runs cases whose ranks share a process.
func (run *liveRun) together() {
	var w *liveProcess
	defer func() { w.end(run) }()
	for run.goesOn() {
		c := run.draw(false)
		if w == nil {
			w = run.start(explicit)
		}
		a, err := w.do(liveOrder{Seed: c.seed, Rank: -1})
		if err != nil {
			run.died(c, w, err)
			w = nil
			continue
		}
		run.judge(c, a)
	}
}

// separately runs cases whose ranks are processes.
func (run *liveRun) separately() {
	ws := make([]*liveProcess, 3)
	defer func() {
		for _, w := range ws {
			w.end(run)
		}
	}()
	for run.goesOn() {
		run.oneApart(run.draw(true), ws)
	}
}

func (run *liveRun) oneApart(c *liveCase, ws []*liveProcess) {
	m, err := c.between()
	if err != nil {
		m.close()
		run.fail(c, err.Error())
		return
	}
	answers, errs := make([]liveAnswer, c.size), make([]error, c.size)
	var all sync.WaitGroup
	for rank := range c.size {
		if ws[rank] == nil {
			ws[rank] = run.start([]string{explicit, hooked, explicit}[rank])
		}
		all.Go(func() { answers[rank], errs[rank] = ws[rank].do(m.orders[rank]) })
	}
	all.Wait()
	var whole liveAnswer
	whole.Altered, whole.Bytes = m.close()
	died := false
	for rank, a := range answers {
		if errs[rank] != nil {
			run.died(c, ws[rank], errs[rank])
			ws[rank], died = nil, true
			continue
		}
		whole.Reports = append(whole.Reports, a.Reports...)
		whole.Bad = append(whole.Bad, a.Bad...)
		whole.Grown, whole.Threads = max(whole.Grown, a.Grown), max(whole.Threads, a.Threads)
	}
	if !died {
		run.judge(c, whole)
	}
}

// single runs one case.
func (run *liveRun) single(seed uint64) {
	c := newLiveCase(seed)
	run.t.Log(c)
	if c.apart {
		ws := make([]*liveProcess, 3)
		run.oneApart(c, ws)
		for _, w := range ws {
			w.end(run)
		}
		return
	}
	w := run.start(explicit)
	a, err := w.do(liveOrder{Seed: seed, Rank: -1})
	if err != nil {
		run.died(c, w, err)
		return
	}
	w.end(run)
	run.judge(c, a)
	for rank, r := range a.Reports {
		run.t.Logf("rank %d: %+v", rank, r)
	}
	run.t.Logf("altered: %+v", a.Altered)
}

// liveProcess is a process that runs cases.
type liveProcess struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs lockedBuffer
}

// lockedBuffer keeps the end of what is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (lb *lockedBuffer) Write(p []byte) (int, error) {
	lb.mu.Lock()
	defer lb.mu.Unlock()
	if lb.b.Len() > 8<<20 {
		lb.b.Reset()
	}
	return lb.b.Write(p)
}

func (lb *lockedBuffer) String() string {
	lb.mu.Lock()
	defer lb.mu.Unlock()
	return lb.b.String()
}

func (run *liveRun) start(engine string) *liveProcess {
	exe, err := os.Executable()
	if err != nil {
		run.t.Error(err)
	}
	w := &liveProcess{cmd: exec.Command(exe)}
	w.cmd.Env = append(os.Environ(), workerVariable+"="+engine)
	w.cmd.Stderr = &w.errs
	in, err1 := w.cmd.StdinPipe()
	out, err2 := w.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, w.cmd.Start()); err != nil {
		run.t.Error(err)
	}
	w.in, w.out = in, bufio.NewReaderSize(out, 1<<20)
	return w
}

// do has the process run a case, or its part in one.
func (lp *liveProcess) do(o liveOrder) (a liveAnswer, err error) {
	line, err := json.Marshal(o)
	if err == nil {
		_, err = lp.in.Write(append(line, '\n'))
	}
	if err == nil {
		line, err = lp.out.ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	return a, err
}

// end lets the process end, in order.
func (lp *liveProcess) end(l *liveRun) {
	if lp == nil {
		return
	}
	_ = lp.in.Close()
	late := time.AfterFunc(time.Minute, func() { _ = lp.cmd.Process.Kill() })
	defer late.Stop()
	if err := lp.cmd.Wait(); err != nil {
		l.t.Errorf("a process ended with %v:\n%s", err, liveTail(lp.errs.String()))
	}
}

// died says how a process ended in the middle of a case.
func (run *liveRun) died(c *liveCase, w *liveProcess, err error) {
	_ = w.in.Close()
	late := time.AfterFunc(10*time.Second, func() { _ = w.cmd.Process.Kill() })
	how := w.cmd.Wait()
	late.Stop()
	run.fail(c, fmt.Sprintf("a process ended (%v, %v):\n%s", err, how, liveTail(w.errs.String())))
}

// fail says what is wrong with a case, and how to see it again.
func (run *liveRun) fail(c *liveCase, what string) {
	run.mu.Lock()
	run.failures++
	run.mu.Unlock()
	run.t.Errorf("%v\n%s\nagain: go test ./nmad/internal/test/livelinks -run 'TestLiveLinks$' -fuzz-links.seed %d -v", c, what, c.seed)
}

// summary says what was done, and how it ended.
func (run *liveRun) summary() {
	run.mu.Lock()
	defer run.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d cases in %v, %d of them with a process for each rank; messages of %.1f MB, %.1f MB through proxies; the heap grew by %.1f MB at most; %d threads at most; Open took up to %v, Close %v\n",
		run.cases, time.Since(run.began).Round(time.Second), run.apart, float64(run.volume)/1e6, float64(run.bytes)/1e6, float64(run.grown)/1e6, run.threads, run.opening.Round(time.Millisecond), run.closing.Round(time.Millisecond))
	for _, table := range []map[string]map[string]int{run.outcomes, run.fields} {
		for _, row := range slices.Sorted(maps.Keys(table)) {
			fmt.Fprintf(&b, "  %-10s", row)
			for _, o := range slices.Sorted(maps.Keys(table[row])) {
				fmt.Fprintf(&b, "  %s: %d", o, table[row][o])
			}
			fmt.Fprintln(&b)
		}
	}
	for _, m := range []struct {
		what string
		m    map[string]int
	}{{"requests", run.errors}, {"alterations", run.kinds}, {"bytes altered", run.places}} {
		fmt.Fprintf(&b, "  %s:", m.what)
		for _, k := range slices.Sorted(maps.Keys(m.m)) {
			fmt.Fprintf(&b, " %s %d,", k, m.m[k])
		}
		fmt.Fprintln(&b)
	}
	run.t.Log(b.String())
	if *fuzzLinks > time.Minute {
		fmt.Fprint(os.Stderr, b.String()) // the log comes at the end
	}
}
