package nmad_test

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

// TestLiveLinks: jobs of two and three ranks exchange messages of all sizes, over real sockets that go through proxies, which
// alter, cut and invent what passes: before the proof of the secret, in it and after it, on links and control connections, and in
// shared memory.
//
//	go test ./nmad -run TestLiveLinks -fuzz-links 1h -timeout 0 -v
//	go test ./nmad -run TestLiveLinks -fuzz-links.seed 123
//
// Whatever happens, each request ends: with the right bytes, or with an error that names the peer and the reason. Bytes that
// are wrong count as right only if bytes of links were altered after the proofs, which no process signs; where these were bytes of
// messages only, as many are wrong at most, and all else goes well. Nothing panics, hangs, writes beside or into buffers that it must not touch any more,
// takes memory that was not granted, or leaves anything behind.
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
func (l *liveRun) draw(apart bool) *liveCase {
	for {
		c := newLiveCase(l.next.Add(1))
		if c.apart == apart && (*fuzzLinksOnly == "" || c.theme == *fuzzLinksOnly) {
			return c
		}
	}
}

// goesOn says whether there is time for another case, and sense in it.
func (l *liveRun) goesOn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().Before(l.until) && l.failures < 20
}

// together runs cases whose ranks share a process.
func (l *liveRun) together() {
	var w *liveProcess
	defer func() { w.end(l) }()
	for l.goesOn() {
		c := l.draw(false)
		if w == nil {
			w = l.start(explicit)
		}
		a, err := w.do(liveOrder{Seed: c.seed, Rank: -1})
		if err != nil {
			l.died(c, w, err)
			w = nil
			continue
		}
		l.judge(c, a)
	}
}

// separately runs cases whose ranks are processes.
func (l *liveRun) separately() {
	ws := make([]*liveProcess, 3)
	defer func() {
		for _, w := range ws {
			w.end(l)
		}
	}()
	for l.goesOn() {
		l.oneApart(l.draw(true), ws)
	}
}

func (l *liveRun) oneApart(c *liveCase, ws []*liveProcess) {
	m, err := c.between()
	if err != nil {
		m.close()
		l.fail(c, err.Error())
		return
	}
	answers, errs := make([]liveAnswer, c.size), make([]error, c.size)
	var all sync.WaitGroup
	for rank := range c.size {
		if ws[rank] == nil {
			ws[rank] = l.start([]string{explicit, hooked, explicit}[rank])
		}
		all.Go(func() { answers[rank], errs[rank] = ws[rank].do(m.orders[rank]) })
	}
	all.Wait()
	var whole liveAnswer
	whole.Altered, whole.Bytes = m.close()
	died := false
	for rank, a := range answers {
		if errs[rank] != nil {
			l.died(c, ws[rank], errs[rank])
			ws[rank], died = nil, true
			continue
		}
		whole.Reports = append(whole.Reports, a.Reports...)
		whole.Bad = append(whole.Bad, a.Bad...)
		whole.Grown, whole.Threads = max(whole.Grown, a.Grown), max(whole.Threads, a.Threads)
	}
	if !died {
		l.judge(c, whole)
	}
}

// single runs one case.
func (l *liveRun) single(seed uint64) {
	c := newLiveCase(seed)
	l.t.Log(c)
	if c.apart {
		ws := make([]*liveProcess, 3)
		l.oneApart(c, ws)
		for _, w := range ws {
			w.end(l)
		}
		return
	}
	w := l.start(explicit)
	a, err := w.do(liveOrder{Seed: seed, Rank: -1})
	if err != nil {
		l.died(c, w, err)
		return
	}
	w.end(l)
	l.judge(c, a)
	for rank, r := range a.Reports {
		l.t.Logf("rank %d: %+v", rank, r)
	}
	l.t.Logf("altered: %+v", a.Altered)
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

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.b.Len() > 8<<20 {
		b.b.Reset()
	}
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (l *liveRun) start(engine string) *liveProcess {
	exe, err := os.Executable()
	if err != nil {
		l.t.Error(err)
	}
	w := &liveProcess{cmd: exec.Command(exe)}
	w.cmd.Env = append(os.Environ(), modeVariable+"="+engine+" links")
	w.cmd.Stderr = &w.errs
	in, err1 := w.cmd.StdinPipe()
	out, err2 := w.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, w.cmd.Start()); err != nil {
		l.t.Error(err)
	}
	w.in, w.out = in, bufio.NewReaderSize(out, 1<<20)
	return w
}

// do has the process run a case, or its part in one.
func (w *liveProcess) do(o liveOrder) (a liveAnswer, err error) {
	line, err := json.Marshal(o)
	if err == nil {
		_, err = w.in.Write(append(line, '\n'))
	}
	if err == nil {
		line, err = w.out.ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	return a, err
}

// end lets the process end, in order.
func (w *liveProcess) end(l *liveRun) {
	if w == nil {
		return
	}
	_ = w.in.Close()
	late := time.AfterFunc(time.Minute, func() { _ = w.cmd.Process.Kill() })
	defer late.Stop()
	if err := w.cmd.Wait(); err != nil {
		l.t.Errorf("a process ended with %v:\n%s", err, liveTail(w.errs.String()))
	}
}

// died says how a process ended in the middle of a case.
func (l *liveRun) died(c *liveCase, w *liveProcess, err error) {
	_ = w.in.Close()
	late := time.AfterFunc(10*time.Second, func() { _ = w.cmd.Process.Kill() })
	how := w.cmd.Wait()
	late.Stop()
	l.fail(c, fmt.Sprintf("a process ended (%v, %v):\n%s", err, how, liveTail(w.errs.String())))
}

// fail says what is wrong with a case, and how to see it again.
func (l *liveRun) fail(c *liveCase, what string) {
	l.mu.Lock()
	l.failures++
	l.mu.Unlock()
	l.t.Errorf("%v\n%s\nagain: go test ./nmad -run 'TestLiveLinks$' -fuzz-links.seed %d -v", c, what, c.seed)
}

// summary says what was done, and how it ended.
func (l *liveRun) summary() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d cases in %v, %d of them with a process for each rank; messages of %.1f MB, %.1f MB through proxies; the heap grew by %.1f MB at most; %d threads at most; Open took up to %v, Close %v\n",
		l.cases, time.Since(l.began).Round(time.Second), l.apart, float64(l.volume)/1e6, float64(l.bytes)/1e6, float64(l.grown)/1e6, l.threads, l.opening.Round(time.Millisecond), l.closing.Round(time.Millisecond))
	for _, table := range []map[string]map[string]int{l.outcomes, l.fields} {
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
	}{{"requests", l.errors}, {"alterations", l.kinds}, {"bytes altered", l.places}} {
		fmt.Fprintf(&b, "  %s:", m.what)
		for _, k := range slices.Sorted(maps.Keys(m.m)) {
			fmt.Fprintf(&b, " %s %d,", k, m.m[k])
		}
		fmt.Fprintln(&b)
	}
	l.t.Log(b.String())
	if *fuzzLinks > time.Minute {
		fmt.Fprint(os.Stderr, b.String()) // the log comes at the end
	}
}
