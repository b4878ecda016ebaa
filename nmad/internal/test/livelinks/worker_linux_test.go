package livelinks

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/pioman"
)

// liveAnswer is what a process says of a case.
type liveAnswer struct {
	Reports []liveReport // of its ranks
	Altered []liveAlteration
	Bytes   uint64 // that went through its proxies

	Grown     uint64 // bytes of the heap at its most, above what there was before
	Allocated uint64 // bytes, all together
	Threads   int
	Bad       []string
}

const (
	// livePatience is for how many seconds a case may go on. A second counts only if this process has seen it go by.
	livePatience = 90
	// liveHeap is by how many bytes the heap may grow in a case, besides what its messages take.
	liveHeap = 48 << 20
	// liveKept is how many bytes of the heap may be left of a case.
	liveKept = 8 << 20
	// moreThreads is how many threads may come in the course of all cases: Go makes one more where all are in the kernel,
	// and keeps it.
	moreThreads = 32
)

// liveWorker takes orders from its standard input, a case each, and answers on its standard output, until there are no
// more. With hooked the ranks are threads whose hooks poll.
func liveWorker(hooked bool) error {
	in, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	w := &liveBase{hooked: hooked}
	for n := 0; ; n++ {
		var line []byte
		var err error
		marcel.Blocking(func() { line, err = in.ReadBytes('\n') })
		if err != nil {
			return nil
		}
		var o liveOrder
		if err := json.Unmarshal(line, &o); err != nil {
			return err
		}
		if n == 0 {
			w.warm()
		}
		if err := out.Encode(w.obey(o)); err != nil {
			return err
		}
	}
}

// liveBase is what a process has before and after each case.
type liveBase struct {
	hooked     bool
	goroutines int
	things     int
	threads    int
	heap       uint64
}

// warm runs cases in which nothing goes wrong, and takes note of what the process has then.
func (lb *liveBase) warm() {
	for seed, seen := uint64(1), map[string]bool{}; len(seen) < 3; seed++ {
		c := newLiveCase(seed)
		if name := strings.Join(c.rails, ","); c.theme == "nothing" && !seen[name] && len(c.rails) == 1 {
			seen[name] = true
			c.apart = false
			lb.inside(c)
		}
	}
	time.Sleep(100 * time.Millisecond)
	lb.goroutines, lb.things, lb.threads, lb.heap = runtime.NumGoroutine(), liveThings(), liveThreads(), liveHeapNow()
}

// liveThings counts the descriptors, but for the standard ones.
func liveThings() int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(all)
}

// liveDescriptors says what the open descriptors are.
func liveDescriptors() string {
	var all []string
	for fd := range 1000 {
		if what, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil {
			all = append(all, what)
		}
	}
	return strings.Join(all, " ")
}

func liveThreads() int {
	all, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0
	}
	return len(all)
}

// liveHeapNow is what the heap holds, once it is collected.
func liveHeapNow() uint64 {
	runtime.GC()
	runtime.GC() // what had finalizers
	return liveObjects()
}

func liveObjects() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func liveAllocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// thread starts a thread of marcel if hooks poll, else a goroutine.
func (lb *liveBase) thread(f func()) (wait func()) {
	if lb.hooked {
		t := marcel.Spawn(f)
		return func() { _ = t.Join() }
	}
	over := make(chan struct{})
	go func() { defer close(over); f() }()
	return func() { <-over }
}

// part runs one rank.
func (lb *liveBase) part(c *liveCase, o liveOrder) liveReport {
	if lb.hooked {
		return c.run(o, nil, lb.thread)
	}
	engine := pioman.New(pioman.Config{})
	defer engine.Close()
	return c.run(o, engine, lb.thread)
}

// inside runs all ranks and their proxies in this process.
func (lb *liveBase) inside(c *liveCase) (a liveAnswer) {
	m, err := c.between()
	if err != nil {
		m.close()
		a.Bad = append(a.Bad, err.Error())
		return a
	}
	a.Reports = make([]liveReport, c.size)
	var all sync.WaitGroup
	for rank := range c.size {
		all.Go(func() { a.Reports[rank] = lb.part(c, m.orders[rank]) })
	}
	all.Wait()
	a.Altered, a.Bytes = m.close()
	return a
}

// obey runs a case, or this process's part in it, and looks what it leaves behind.
func (lb *liveBase) obey(o liveOrder) (a liveAnswer) {
	c := newLiveCase(o.Seed)
	os.Setenv(shm.EnvCopy, c.copies)
	over := lb.watch(c)
	before, allocated := liveObjects(), liveAllocated()
	var most atomic.Uint64
	stop, sampled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		t := time.NewTicker(2 * time.Millisecond)
		defer t.Stop()
		for {
			if n := liveObjects(); n > most.Load() {
				most.Store(n)
			}
			select {
			case <-t.C:
			case <-stop:
				return
			}
		}
	}()
	if o.Rank < 0 {
		a = lb.inside(c)
	} else {
		a.Reports = []liveReport{lb.part(c, o)}
	}
	close(stop)
	<-sampled
	a.Grown, a.Allocated = most.Load()-min(before, most.Load()), liveAllocated()-allocated
	volume := uint64(0)
	for _, r := range a.Reports {
		a.Bad = append(a.Bad, r.Bad...)
		volume += uint64(r.Volume)
	}
	if a.Grown > liveHeap+4*volume {
		a.Bad = append(a.Bad, fmt.Sprintf("the heap grew by %d bytes for messages of %d", a.Grown, volume))
	}
	over()
	a.Bad = append(a.Bad, lb.left()...)
	if a.Threads = liveThreads(); a.Threads > lb.threads+moreThreads {
		a.Bad = append(a.Bad, fmt.Sprintf("%d threads were there before the first case, %d are", lb.threads, a.Threads))
		lb.threads = a.Threads
	}
	return a
}

// left says what there is more than before, once it had time to go.
func (lb *liveBase) left() (bad []string) {
	var goroutines, things int
	for range 2000 {
		goroutines, things = runtime.NumGoroutine(), liveThings()
		if (lb.hooked || goroutines <= lb.goroutines) && things <= lb.things {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if !lb.hooked && goroutines > lb.goroutines {
		bad = append(bad, fmt.Sprintf("%d goroutines were there before, %d are after:\n%s", lb.goroutines, goroutines, liveStacks()))
		lb.goroutines = goroutines
	}
	if things > lb.things {
		bad = append(bad, fmt.Sprintf("%d descriptors were open before, %d are after: %s", lb.things, things, liveDescriptors()))
		lb.things = things
	}
	if heap := liveHeapNow(); heap > lb.heap+liveKept {
		bad = append(bad, fmt.Sprintf("the heap had %d bytes before, and keeps %d", lb.heap, heap))
		lb.heap = heap
	}
	return bad
}

func liveStacks() string {
	b := make([]byte, 4<<20)
	return string(b[:runtime.Stack(b, true)])
}

// watch ends the process, with the stacks of all goroutines, if a case does not end.
func (lb *liveBase) watch(c *liveCase) (over func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		second := time.NewTicker(time.Second) // which drops the seconds that we do not see
		defer second.Stop()
		for range livePatience {
			select {
			case <-done:
				return
			case <-second.C:
			}
		}
		fmt.Fprintf(os.Stderr, "HANG: %v\n%s", c, liveStacks())
		os.Exit(2)
	}()
	return func() { close(done); <-gone }
}

func init() { debug.SetTraceback("all") }

// liveTail is the end of what a process said on its standard error, for people.
func liveTail(text string) string {
	const most = 12000
	if i := strings.Index(text, "HANG"); i >= 0 {
		text = text[i:]
		return text[:min(len(text), 4*most)]
	}
	for _, mark := range []string{"DATA RACE", "panic:", "fatal error:"} {
		if i := strings.Index(text, mark); i >= 0 {
			text = text[max(i-50, 0):]
			return text[:min(len(text), most)]
		}
	}
	return text[max(0, len(text)-most):]
}
