package marcel_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// The ways in which a waiter of TestWaitersOfAllKinds waits. Its wait ends in success with those that have no bound,
// and with those that are canceled, unless the cancel is first.
const (
	plainly = iota
	withTimeout
	withContext
	inSelect
	canceled // a thread; a goroutine waits plainly
	waysToWait
)

// What a waiter waits for.
const (
	aUnit = iota
	aLock
	aSignal
	aMessage
	thingsToGet
)

// waitRound is one round: so many waiters, each for one thing in one way, and three that give: a thread, a goroutine,
// and a goroutine that sends.
type waitRound struct {
	*testing.T
	r     *rand.Rand
	units marcel.Semaphore
	box   *marcel.Mailbox[int]
	lock  marcel.Mutex
	guard marcel.Mutex // of what follows
	cond  *marcel.Cond

	enrolled     int // that wait for a signal, or have
	inside       int // lock
	wanted       [thingsToGet]int
	plain        [thingsToGet]int          // waits without a bound
	plainGot     [thingsToGet]atomic.Int64 // of these, successful
	got          [thingsToGet]atomic.Int64 // all successful waits
	times        []atomic.Int32            // how often each message came
	sent         int
	left         atomic.Int64 // waiters that have not ended
	all          sync.WaitGroup
	cancelThread []marcel.Thread
}

// take waits in one way. d bounds the wait.
func take(way int, d time.Duration, plain func(), timed func(time.Duration) bool, under func(context.Context) error, c marcel.Case) bool {
	switch way {
	case withTimeout:
		return timed(d)
	case withContext:
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		defer time.AfterFunc(d, cancel).Stop()
		return under(ctx) == nil
	case inSelect:
		return marcel.Select(c, marcel.After(d)) == 0
	}
	plain()
	return true
}

// wait is a waiter.
func (wr *waitRound) wait(thing, way int, d time.Duration) {
	ok, v := false, -1
	switch thing {
	case aUnit:
		ok = take(way, d, wr.units.Acquire, wr.units.AcquireTimeout, wr.units.AcquireContext, wr.units.Case())
	case aLock:
		if ok = take(way, d, wr.lock.Lock, wr.lock.LockTimeout, wr.lock.LockContext, nil); ok {
			if wr.inside++; wr.inside != 1 {
				wr.Errorf("%d have the mutex", wr.inside)
			}
			computed.Add(1)
			wr.inside--
			wr.lock.Unlock()
		}
	case aSignal:
		wr.guard.Lock()
		defer wr.guard.Unlock() // also if it is canceled
		wr.enrolled++
		ok = take(way, d, wr.cond.Wait, wr.cond.WaitTimeout, wr.cond.WaitContext, wr.cond.Case())
	case aMessage:
		rx := wr.box.Receiver()
		recv := func(x int, err error) error {
			v = x
			return err
		}
		ok = take(way, d, func() { _ = recv(wr.box.Recv()) }, func(d time.Duration) bool { return recv(wr.box.RecvTimeout(d)) == nil },
			func(ctx context.Context) error { return recv(wr.box.RecvContext(ctx)) }, rx)
		if ok {
			if way == inSelect {
				v = rx.Value
			}
			wr.times[v].Add(1)
		}
	}
	if ok {
		wr.got[thing].Add(1)
		if way == plainly {
			wr.plainGot[thing].Add(1)
		}
	}
}

// begin starts a waiter on s, or on a goroutine.
func (wr *waitRound) begin(s *sched.Scheduler, thing, way int) {
	d := time.Duration(wr.r.IntN(120)) * time.Microsecond
	if thing == aLock && way == inSelect {
		way = withTimeout
	}
	wr.wanted[thing]++
	wr.left.Add(1)
	wr.all.Add(1)
	onGoroutine := wr.r.IntN(3) == 0
	if onGoroutine && way == canceled || thing == aLock && way == canceled {
		way = plainly
	}
	if way == plainly {
		wr.plain[thing]++
	}
	do := func() {
		defer wr.all.Done()
		defer wr.left.Add(-1)
		wr.wait(thing, way, d)
	}
	if onGoroutine {
		go do()
		return
	}
	h := s.Spawn(marcel.Attr{}, do)
	if way == canceled {
		wr.cancelThread = append(wr.cancelThread, h)
	}
}

// give gives what the waiters want, and cancels, in random order, one half from a thread and the other from a
// goroutine.
func (wr *waitRound) give(s *sched.Scheduler) {
	var deeds []func()
	for range wr.wanted[aUnit] {
		deeds = append(deeds, wr.units.Release)
	}
	for _, h := range wr.cancelThread {
		deeds = append(deeds, func() { _ = h.Cancel() })
	}
	deeds = append(deeds, wr.lock.Unlock, func() {
		for enrolled := 0; enrolled < wr.wanted[aSignal]; { // a signal that none waits for is lost
			if marcel.Yield(); wr.guard.TryLock() {
				enrolled = wr.enrolled
				wr.guard.Unlock()
			}
		}
		for range wr.wanted[aSignal] {
			wr.cond.Signal()
		}
	})
	wr.r.Shuffle(len(deeds), func(i, j int) { deeds[i], deeds[j] = deeds[j], deeds[i] })
	carryOut := func(deeds []func()) func() {
		r := rand.New(rand.NewPCG(wr.r.Uint64(), 0))
		return func() {
			defer wr.all.Done()
			for _, deed := range deeds {
				compute(time.Duration(r.IntN(10)) * time.Microsecond)
				deed()
			}
		}
	}
	wr.all.Add(3)
	half := len(deeds) / 2
	s.Spawn(marcel.Attr{}, carryOut(deeds[:half]))
	go carryOut(deeds[half:])()
	go func() {
		defer wr.all.Done()
		for wr.sent < wr.wanted[aMessage] && wr.left.Load() > 0 {
			if wr.box.SendTimeout(wr.sent, 20*time.Microsecond) == nil {
				wr.sent++
			}
		}
	}()
}

// account checks what there is at the end.
func (wr *waitRound) account() {
	units, messages := 0, 0
	for wr.units.TryAcquire() {
		units++
	}
	for v, err := wr.box.TryRecv(); err == nil; v, err = wr.box.TryRecv() {
		wr.times[v].Add(1)
		messages++
	}
	if got := int(wr.got[aUnit].Load()); got+units != wr.wanted[aUnit] {
		wr.Errorf("%d units released, %d acquired and %d left", wr.wanted[aUnit], got, units)
	}
	if got := int(wr.got[aMessage].Load()); got+messages != wr.sent {
		wr.Errorf("%d messages sent, %d received and %d left", wr.sent, got, messages)
	}
	for v := range wr.times {
		if want := min(max(wr.sent-v, 0), 1); int(wr.times[v].Load()) != want {
			wr.Errorf("message %d of %d came %d times", v, wr.sent, wr.times[v].Load())
		}
	}
	for thing := range thingsToGet {
		if got, plain := int(wr.plainGot[thing].Load()), wr.plain[thing]; got != plain {
			wr.Errorf("thing %d: of %d waits without a bound %d have ended", thing, plain, got)
		}
	}
	if !wr.lock.TryLock() {
		wr.Error("the mutex stays locked")
	}
}

// Waiters of all kinds, threads and goroutines, stand in the same queues, with tiny limits, and are given just what
// they want: nothing is lost, so that each wait without a bound ends; nothing comes twice; no wait ends for nothing.
func TestWaitersOfAllKinds(t *testing.T) {
	collect(t)
	for _, vps := range []int{1, 2} {
		t.Run(fmt.Sprintf("%dVP", vps), func(t *testing.T) {
			t.Parallel()
			s := start(t, brisk(vps))
			rounds := 0
			within(t, func() {
				for end := time.Now().Add(effort.Of(10 * time.Second)); time.Now().Before(end) && !t.Failed(); rounds++ {
					oneWaitRound(t, s, uint64(rounds))
				}
			}, s)
			t.Logf("%d rounds", rounds)
		})
	}
}

func oneWaitRound(t *testing.T, s *sched.Scheduler, seed uint64) {
	const waiters = 24
	r := rand.New(rand.NewPCG(seed, 31))
	wr := &waitRound{T: t, r: r, box: marcel.NewMailbox[int](r.IntN(2)), times: make([]atomic.Int32, waiters)}
	wr.cond = marcel.NewCond(&wr.guard)
	wr.lock.Lock()
	for range waiters {
		wr.begin(s, r.IntN(thingsToGet), r.IntN(waysToWait))
	}
	wr.give(s)
	wr.all.Wait()
	wr.account()
	if t.Failed() {
		t.Logf("round %d", seed)
	}
}
