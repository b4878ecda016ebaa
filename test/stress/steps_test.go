package stress

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// steps is what a thread may do, each as often as its weight says, in 10,000.
var steps = []struct {
	name   string
	weight int
	do     func(m *mix, r *rand.Rand)
}{
	{"yield", 2500, func(*mix, *rand.Rand) { marcel.Yield() }},
	{"section", 1500, func(m *mix, r *rand.Rand) { m.locks[r.IntN(len(m.locks))].enter(m, r) }},
	{"queue", 1000, func(m *mix, r *rand.Rand) { m.queues[r.IntN(len(m.queues))].pass(m, r) }},
	{"pool", 1000, (*mix).usePool},
	{"child", 1000, (*mix).child},
	{"across VPs", 800, (*mix).acrossVPs},
	{"barrier", 200, (*mix).barrier},
	{"memory", 500, (*mix).memory},
	{"stack", 300, func(m *mix, r *rand.Rand) { m.deep(50+r.IntN(400), r.Uint64()) }},
	{"panic", 200, (*mix).caught},
	{"exit", 200, (*mix).exit},
	{"recover", 100, (*mix).recovers},
	{"goroutine wakes", 150, (*mix).goroutineWakes},
	{"goroutine spawns", 50, (*mix).goroutineSpawns},
	{"joiners", 100, (*mix).joiners},
	{"sleep", 80, func(m *mix, r *rand.Rand) { m.lasts(r, marcel.Sleep) }},
	{"timeout", 80, (*mix).timeout},
	{"say system call", 100, func(_ *mix, r *rand.Rand) { marcel.Blocking(func() { nap(r.IntN(100_000)) }) }},
	{"say nothing happens", 60, func(*mix, *rand.Rand) { marcel.Blocking(func() {}) }},
	{"say and use", 30, func(*mix, *rand.Rand) { marcel.Blocking(func() { marcel.Yield(); nap(1000); marcel.Yield() }) }},
	{"say channel", 20, func(m *mix, r *rand.Rand) { marcel.Blocking(func() { m.channel(r) }) }},
	{"channel", 10, (*mix).channel},
	{"time.Sleep", 5, func(m *mix, r *rand.Rand) { m.lasts(r, time.Sleep) }},
	{"sync.Mutex", 5, (*mix).syncMutex},
	{"Gosched", 3, func(*mix, *rand.Rand) { runtime.Gosched() }},
	{"system call", 5, func(_ *mix, r *rand.Rand) { nap(r.IntN(200_000)) }},
	{"compute", 1, func(_ *mix, r *rand.Rand) { burn(time.Duration(r.IntN(4_000_000))) }},
	{"collect", 1, func(*mix, *rand.Rand) { runtime.GC() }},
}

// step takes one at random.
func (m *mix) step(r *rand.Rand) (name string) {
	sum := 0
	for _, s := range steps {
		sum += s.weight
	}
	k := r.IntN(sum)
	for _, s := range steps {
		if k -= s.weight; k < 0 {
			s.do(m, r)
			return s.name
		}
	}
	panic("the weights do not add up")
}

// spawn1 spawns a child of a step, on any VP or on one picked at random.
func (m *mix) spawn1(a marcel.Attr, fn func()) marcel.Thread {
	m.children.Add(1)
	return marcel.SpawnWith(a, func() {
		defer m.grown.Add(1)
		fn()
	})
}

func (m *mix) anyVP(r *rand.Rand) marcel.Attr { return marcel.Attr{VPs: vps(r.IntN(1 + m.s.NumVP()))} }

// vps is the set of VP n-1; any for 0.
func vps(n int) marcel.VPSet {
	if n == 0 {
		return marcel.VPSet{}
	}
	return marcel.OneVP(n - 1)
}

func (m *mix) ended1(h marcel.Thread, what string) {
	if err := h.Join(); err != nil {
		m.fail("%s: Join says %v", what, err)
	}
}

func (m *mix) usePool(r *rand.Rand) {
	m.pool.Acquire()
	if r.IntN(4) == 0 {
		marcel.Yield()
	}
	m.pool.Release()
}

// child: a join sees all that the child did.
func (m *mix) child(r *rand.Rand) {
	n := 0
	var h marcel.Thread
	work := func() {
		n++
		marcel.Yield()
		n++
	}
	if r.IntN(2) == 0 {
		h = m.spawn1(m.anyVP(r), work)
	} else {
		m.children.Add(1)
		h = marcel.Spawn(func() { work(); m.grown.Add(1) })
	}
	m.ended1(h, "child")
	if n != 2 {
		m.fail("joined a child that had done %d of 2", n)
	}
}

// acrossVPs: two threads, on VPs of their own if there are several, wake each other.
func (m *mix) acrossVPs(r *rand.Rand) {
	var there, back marcel.Semaphore
	rounds := 1 + r.IntN(5)
	ball := 0
	h := m.spawn1(m.anyVP(r), func() {
		for range rounds {
			there.Acquire()
			ball++
			back.Release()
		}
	})
	for i := range rounds {
		there.Release()
		back.Acquire()
		if ball != i+1 {
			m.fail("the ball came back %d times, want %d", ball, i+1)
		}
	}
	m.ended1(h, "partner")
	if there.TryAcquire() || back.TryAcquire() {
		m.fail("a semaphore has a unit that was never given")
	}
}

// barrier: no thread is in round k+1 before all have done round k.
func (m *mix) barrier(r *rand.Rand) {
	const parties, rounds = 4, 3
	b := marcel.NewBarrier(parties)
	var done [rounds]atomic.Int32
	party := func() {
		for k := range rounds {
			done[k].Add(1)
			b.Wait()
			if n := done[k].Load(); n != parties {
				m.fail("past a barrier with %d of %d there", n, parties)
			}
		}
	}
	var hs [parties - 1]marcel.Thread
	for i := range hs {
		hs[i] = m.spawn1(m.anyVP(r), party)
	}
	party()
	for _, h := range hs {
		m.ended1(h, "party")
	}
}

// memory: what only a parked thread's stack refers to is not collected.
func (m *mix) memory(r *rand.Rand) {
	type cell struct {
		value uint64
		next  *cell
		_     [4]uint64
	}
	first := r.Uint64()
	var head *cell
	for i := range uint64(20) {
		head = &cell{value: first + i, next: head}
	}
	for i := uint64(20); head != nil; head = head.next {
		i--
		if head.value != first+i {
			m.fail("memory of a thread changed: %#x, want %#x", head.value, first+i)
		}
		if i%5 == 0 {
			marcel.Yield()
		}
	}
}

// deep: a stack that grew is what it was after a switch at its end.
//
//go:noinline
func (m *mix) deep(n int, mark uint64) uint64 {
	var frame [8]uint64
	for i := range frame {
		frame[i] = mark + uint64(i)
	}
	p := &frame[3]
	if n > 0 {
		m.deep(n-1, mark+1)
	} else {
		marcel.Yield()
	}
	for i, x := range frame {
		if x != mark+uint64(i) || *p != mark+3 {
			m.fail("a frame of a thread's stack changed")
			break
		}
	}
	return frame[n%8]
}

// caught: the panic of a child, in each of its forms, comes out of Join.
func (m *mix) caught(r *rand.Rand) {
	a := m.anyVP(r)
	a.Catch = true
	kind := r.IntN(4)
	unwound := false
	h := m.spawn1(a, func() {
		defer func() { unwound = true }()
		switch kind {
		case 0:
			panic(errMeant)
		case 1:
			marcel.Yield()
			var none *mix
			none.failures.Add(1) // a run-time error
		case 2:
			marcel.Blocking(func() { nap(1000); panic(errMeant) })
		case 3:
			defer func() { panic(errors.Join(errMeant, recover().(error))) }()
			panic(errors.New("replaced"))
		}
	})
	err := h.Join()
	var pe *marcel.PanicError
	var re runtime.Error
	if !errors.As(err, &pe) || kind != 1 && !errors.Is(err, errMeant) || kind == 1 && !errors.As(err, &re) {
		m.fail("a panic of kind %d came out of Join as %v", kind, err)
	}
	if !unwound {
		m.fail("a panic of kind %d ran no deferred call", kind)
	}
}

// exit: Goexit ends a child wherever it is called.
func (m *mix) exit(r *rand.Rand) {
	kind := r.IntN(5)
	unwound, on := false, false
	h := m.spawn1(m.anyVP(r), func() {
		defer func() { unwound = true }()
		switch kind {
		case 0:
			marcel.Exit()
		case 1:
			marcel.Yield()
			runtime.Goexit()
		case 2:
			marcel.Blocking(func() { nap(1000); runtime.Goexit() })
		case 3:
			defer marcel.Yield() // a switch while it unwinds
			runtime.Goexit()
		case 4:
			defer func() { _ = recover(); runtime.Goexit() }()
			panic(errMeant)
		}
		on = true
	})
	m.ended1(h, fmt.Sprintf("exit of kind %d", kind))
	if !unwound || on {
		m.fail("exit of kind %d: deferred calls ran: %v; went on: %v", kind, unwound, on)
	}
}

// recovers: a panic that its thread recovers concerns no other thread.
func (m *mix) recovers(*rand.Rand) {
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, errMeant) {
			m.fail("recovered %v", err)
		}
		marcel.Yield()
	}()
	marcel.Yield()
	panic(errMeant)
}

func (m *mix) goroutineWakes(*rand.Rand) {
	var there, back marcel.Semaphore
	m.helper.Add(1)
	go func() {
		defer m.helper.Done()
		if marcel.OnThread() || marcel.Self() != (marcel.Thread{}) || m.s.CurrentVP() != -1 {
			m.fail("a goroutine is taken for %v", marcel.Self())
		}
		there.Acquire()
		back.Release()
	}()
	there.Release()
	back.Acquire()
}

func (m *mix) goroutineSpawns(r *rand.Rand) {
	var sem marcel.Semaphore
	a := m.anyVP(r)
	m.helper.Add(1)
	go func() {
		defer m.helper.Done()
		m.children.Add(1)
		h := m.s.Spawn(a, func() {
			defer m.grown.Add(1)
			if !marcel.OnThread() {
				m.fail("a thread spawned by a goroutine is none")
			}
			sem.Release()
		})
		m.ended1(h, "spawned by a goroutine")
	}()
	sem.Acquire()
}

// joiners: several threads and a goroutine may wait for one.
func (m *mix) joiners(r *rand.Rand) {
	var gate marcel.Semaphore
	var ended atomic.Bool
	h := m.spawn1(m.anyVP(r), func() {
		gate.Acquire()
		ended.Store(true)
	})
	wait := func() {
		m.ended1(h, "joined by several")
		if !ended.Load() {
			m.fail("joined before the end")
		}
	}
	x, y := m.spawn1(m.anyVP(r), wait), m.spawn1(m.anyVP(r), wait)
	m.helper.Add(1)
	go func() { defer m.helper.Done(); wait() }()
	marcel.Yield()
	gate.Release()
	wait()
	m.ended1(x, "joiner")
	m.ended1(y, "joiner")
}

// lasts: no sleep is too short.
func (m *mix) lasts(r *rand.Rand, sleep func(time.Duration)) {
	d := time.Duration(r.IntN(300_000))
	t0 := time.Now()
	sleep(d)
	if e := time.Since(t0); e < d {
		m.fail("slept %v instead of %v", e, d)
	}
}

// timeout: a semaphore acquired within the time has been given, one that was not
// keeps its unit.
func (m *mix) timeout(r *rand.Rand) {
	var sem marcel.Semaphore
	d := time.Duration(r.IntN(200_000))
	given := r.IntN(2) == 0
	var h marcel.Thread
	if given {
		h = m.spawn1(m.anyVP(r), func() { marcel.Sleep(d / 2); sem.Release() })
	}
	t0 := time.Now()
	got := sem.AcquireTimeout(d)
	if e := time.Since(t0); !got && e < d {
		m.fail("gave up after %v instead of %v", e, d)
	}
	if given {
		m.ended1(h, "giver")
	}
	if left := sem.TryAcquire(); got && left || (got || left) != given {
		m.fail("a unit was given: %v; got it in time: %v; it is left: %v", given, got, left)
	}
}

func (m *mix) channel(r *rand.Rand) {
	x := r.Uint64()
	ch := make(chan uint64)
	m.helper.Add(1)
	go func() {
		defer m.helper.Done()
		if x%4 == 0 {
			time.Sleep(50 * time.Microsecond)
		}
		ch <- x
	}()
	if y := <-ch; y != x {
		m.fail("received %#x, want %#x", y, x)
	}
}

// syncMutex: threads get stuck in the runtime's own lock.
func (m *mix) syncMutex(r *rand.Rand) {
	m.helper.Add(1)
	go func() {
		defer m.helper.Done()
		m.busy.Lock()
		time.Sleep(20 * time.Microsecond)
		m.busy.Unlock()
	}()
	m.busy.Lock()
	burn(time.Duration(r.IntN(20_000)))
	m.busy.Unlock()
}

// nap sleeps in the kernel, without the Go runtime knowing why.
func nap(ns int) {
	t := unix.NsecToTimespec(int64(ns))
	if err := unix.Nanosleep(&t, nil); err != nil && err != unix.EINTR {
		fmt.Fprintln(os.Stderr, "nanosleep:", err)
	}
}

// burn computes for d without a scheduling point.
func burn(d time.Duration) (x int) {
	for t0 := time.Now(); time.Since(t0) < d; {
		for i := range 100 {
			x += i
		}
	}
	return x
}
