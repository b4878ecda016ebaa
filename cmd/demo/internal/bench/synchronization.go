package bench

import (
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
)

const contenders = 8

func synchronizationRows() []Experiment {
	return []Experiment{
		{
			Name: "semaphore ping-pong, 1 VP", VPs: 1, P: 1, PeerName: "unbuffered channels, P=1", Least: 2,
			Ours: semaphoreOurs(false), Peer: channelPeer,
		},
		{
			Name: "semaphore ping-pong, 2 VPs", VPs: 2, P: 2, PeerName: "unbuffered channels, P=2", Least: 2, Crosses: true,
			Ours: semaphoreOurs(false), Peer: channelPeer,
		},
		{
			// Go cannot bind a goroutine to a P, and keeps these two on one: only ours cross.
			Name: "semaphore ping-pong, each on its VP", VPs: 2, P: 2, PeerName: "unbuffered channels, P=2, not bound", Least: 2, Crosses: true,
			Ours: semaphoreOurs(true), Peer: channelPeer,
		},
		{
			Name: "mutex uncontended", VPs: 1, P: 1, PeerName: "sync.Mutex, P=1",
			Ours: mutexOurs, Peer: mutexPeer,
		},
		{
			Name: "mutex contended, 8 on 2 VPs", VPs: 2, P: 2, PeerName: "sync.Mutex, 8 goroutines, P=2", Least: contenders, Crosses: true,
			Ours: contendedOurs, Peer: contendedPeer,
		},
		{
			Name: "mutex shared, 100 ns in and out, 8 on 2 VPs", VPs: 2, P: 2, PeerName: "sync.Mutex, 8 goroutines, P=2",
			Least: contenders * 100, Crosses: true, Competes: true,
			Ours: sharedOurs, Peer: sharedPeer,
		},
	}
}

// semaphoreOurs has two threads wake each other. Each wake is one operation. If they are bound, the first one stays on
// the first VP and the second one on the last; otherwise the scheduler places them, as it places any.
func semaphoreOurs(bound bool) func(s *stage, n int) error {
	return func(s *stage, n int) error {
		var first, last marcel.Attr
		if bound {
			first.VPs, last.VPs = marcel.OneVP(0), marcel.OneVP(s.sched.NumVP()-1)
		}
		turns := func(n int) error {
			var ping, pong marcel.Semaphore
			a := marcel.SpawnWith(first, func() {
				for range n / 2 {
					ping.Release()
					pong.Acquire()
				}
			})
			b := marcel.SpawnWith(last, func() {
				for range n / 2 {
					ping.Acquire()
					pong.Release()
				}
			})
			return firstError(a.Join(), b.Join())
		}
		return s.watch.timed(n, 1000, turns)
	}
}

func channelPeer(w *watch, n int) error {
	turns := func(n int) {
		ping, pong := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for range n / 2 {
				ping <- struct{}{}
				<-pong
			}
		})
		wg.Go(func() {
			for range n / 2 {
				<-ping
				pong <- struct{}{}
			}
		})
		wg.Wait()
	}
	return w.timedLoop(n, 1000, turns)
}

// mutexOurs has one thread lock and unlock. A lock and an unlock are one operation.
func mutexOurs(s *stage, n int) error {
	var mu marcel.Mutex
	held := 0
	s.watch.begin()
	for range n {
		mu.Lock()
		held++
		mu.Unlock()
	}
	s.watch.end()
	return counted(held, n)
}

func mutexPeer(w *watch, n int) error {
	var mu sync.Mutex
	held := 0
	w.begin()
	for range n {
		mu.Lock()
		held++
		mu.Unlock()
	}
	w.end()
	return counted(held, n)
}

// contendedOurs has four threads on each VP want the same mutex all the time. The count that the mutex protects comes
// out right only if it excludes.
func contendedOurs(s *stage, n int) error {
	var mu marcel.Mutex
	held := 0
	turns := func(n int) (err error) {
		var all [contenders]marcel.Thread
		for i := range all {
			all[i] = marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(i % s.sched.NumVP())}, func() {
				for range n / contenders {
					mu.Lock()
					held++
					mu.Unlock()
				}
			})
		}
		for _, t := range all {
			err = firstError(err, t.Join())
		}
		return err
	}
	if err := turns(min(n, 800)); err != nil {
		return err
	}
	held = 0
	s.watch.begin()
	err := turns(n)
	s.watch.end()
	return firstError(err, counted(held, n))
}

func contendedPeer(w *watch, n int) error {
	var mu sync.Mutex
	held := 0
	turns := func(n int) {
		var wg sync.WaitGroup
		for range contenders {
			wg.Go(func() {
				for range n / contenders {
					mu.Lock()
					held++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	}
	turns(min(n, 800))
	held = 0
	w.begin()
	turns(n)
	w.end()
	return counted(held, n)
}

// section is how long a holder of the mutex computes, and how long it then does without it.
const section = 100 // ns

// compete takes l for a section and does without it for another one, until that has been done n times by all that
// compete, and returns how often it was done by the caller.
func compete(l sync.Locker, held *int, n int) (mine int) {
	cycles := asm.ToCycles(section)
	busy := func() {
		for begin := asm.Cycles(); asm.Cycles()-begin < cycles; {
		}
	}
	for {
		l.Lock()
		over := *held == n
		if !over {
			*held++
			busy()
		}
		l.Unlock()
		if over {
			return mine
		}
		mine++
		busy()
	}
}

// sharedOurs has four threads on each VP compete. A section and the time after it are one operation. The thread that
// finishes it is counted as well.
func sharedOurs(s *stage, n int) error {
	turns := func(n int) ([]int, error) {
		var (
			mu    marcel.Mutex
			held  int
			all   [contenders]marcel.Thread
			mine  = make([]int, contenders)
			err   error
			start = marcel.NewLatch(1)
		)
		for i := range all {
			all[i] = marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(i % s.sched.NumVP())}, func() {
				start.Wait()
				mine[i] = compete(&mu, &held, n)
			})
		}
		start.CountDown()
		for _, t := range all {
			err = firstError(err, t.Join())
		}
		return mine, err
	}
	if _, err := turns(min(n, 800)); err != nil {
		return err
	}
	s.watch.begin()
	mine, err := turns(n)
	s.watch.end()
	return firstError(err, s.watch.total(mine, n))
}

func sharedPeer(w *watch, n int) error {
	turns := func(n int) []int {
		var (
			mu    sync.Mutex
			held  int
			wg    sync.WaitGroup
			mine  = make([]int, contenders)
			start = make(chan struct{})
		)
		for i := range contenders {
			wg.Go(func() {
				<-start
				mine[i] = compete(&mu, &held, n)
			})
		}
		close(start)
		wg.Wait()
		return mine
	}
	turns(min(n, 800))
	w.begin()
	mine := turns(n)
	w.end()
	return w.total(mine, n)
}

// total notes the shares, which have to come to n in all.
func (w *watch) total(mine []int, n int) error {
	w.shares(mine)
	sum := 0
	for _, x := range mine {
		sum += x
	}
	return counted(sum, n)
}

func counted(got, want int) error {
	if got != want {
		return fmt.Errorf("the mutex does not exclude: %d increments of %d were counted", got, want)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
