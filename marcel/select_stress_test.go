package marcel_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// collect has the collector run all the time until the test ends: the stacks that
// hold cases and values shrink and move.
func collect(t testing.TB) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Microsecond):
				runtime.GC()
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
}

// goods is what producers bring in a stress, numbered for each producer.
type goods struct {
	units    marcel.Semaphore
	box      *marcel.Mailbox[item]
	direct   marcel.Mailbox[item]
	ch       chan item
	brought  [4]atomic.Int64
	consumed [4]atomic.Int64
	ended    atomic.Int32 // producers
}

type item struct{ producer, n int }

func (g *goods) produce(w *world, id, n int) {
	defer g.ended.Add(1)
	r := rand.New(rand.NewPCG(uint64(id), 21))
	for i := range n {
		x := item{id, i}
		kind := r.IntN(4)
		switch kind {
		case 0:
			g.units.Release()
		case 1:
			for g.box.SendTimeout(x, time.Duration(r.IntN(100))*time.Microsecond) != nil {
			}
		case 2:
			tx := g.direct.Sender(x)
			for marcel.SelectTimeout(time.Duration(r.IntN(100))*time.Microsecond, tx) < 0 {
			}
			if tx.Err != nil {
				w.Error(tx.Err)
			}
		case 3:
			g.ch <- x
		}
		g.brought[kind].Add(1)
		whatHoldersDo(r)
	}
}

// consume selects among all, in every form, until everything was consumed.
func (g *goods) consume(w *world, id, producers int) {
	r := rand.New(rand.NewPCG(uint64(id), 22))
	box, direct, ch := g.box.Receiver(), g.direct.Receiver(), marcel.ReceiveFrom(g.ch)
	last := [4][]int{1: make([]int, producers), 2: make([]int, producers), 3: make([]int, producers)}
	got := func(kind int, x item) {
		if x.n < last[kind][x.producer] {
			w.Errorf("kind %d: item %d of producer %d came after number %d", kind, x.n, x.producer, last[kind][x.producer])
		}
		last[kind][x.producer] = x.n
	}
	cases := []marcel.Case{g.units.Case(), box, direct, ch, nil, marcel.After(time.Hour)}
	for {
		i := -1
		d := time.Duration(1+r.IntN(150)) * time.Microsecond
		switch r.IntN(4) {
		case 0:
			i = marcel.TrySelect(cases...)
		case 1:
			i = marcel.SelectTimeout(d, cases...)
		case 2:
			ctx, cancel := context.WithTimeout(context.Background(), d)
			i, _ = marcel.SelectContext(ctx, cases...)
			cancel()
		case 3:
			cases[4] = marcel.After(d)
			if i = marcel.Select(cases...); i == 4 {
				i = -1
			}
			cases[4] = nil
		}
		switch i {
		case 1:
			got(i, box.Value)
		case 2:
			got(i, direct.Value)
		case 3:
			got(i, ch.Value)
		}
		if i >= 0 {
			g.consumed[i].Add(1)
			whatHoldersDo(r)
			continue
		}
		if g.ended.Load() == int32(producers) {
			if x, ok := ch.Stop(); ok {
				got(3, x)
				g.consumed[3].Add(1)
			}
			if g.all() {
				return
			}
		}
		marcel.Yield()
	}
}

func (g *goods) all() bool {
	for i := range g.brought {
		if g.consumed[i].Load() != g.brought[i].Load() {
			return false
		}
	}
	return true
}

// Several that select among everything, while others bring it: nothing is lost,
// nothing comes twice, and what one producer sent comes in order.
func TestSelectLosesNothing(t *testing.T) {
	collect(t)
	worlds(t, func(w *world) {
		const producers, consumers = 3, 3
		g := &goods{box: marcel.NewMailbox[item](2), ch: make(chan item)}
		n := effort.Of(1500)
		for id := range producers {
			w.Go(func() { g.produce(w, id, n) })
		}
		for id := range consumers {
			w.Go(func() { g.consume(w, id, producers) })
		}
		w.all.Wait()
		var total int64
		for i := range g.brought {
			total += g.consumed[i].Load()
		}
		if total != int64(producers*n) || g.units.TryAcquire() || g.box.Len() > 0 {
			w.Errorf("%d of %d consumed, %d stored", total, producers*n, g.box.Len())
		}
	})
}

// Each wants to send to the other and to receive from the other, whichever comes
// first, without any place to store a message: all meet in the end.
func TestSelectsMeet(t *testing.T) {
	worlds(t, func(w *world) {
		const parties = 4
		var m [parties]marcel.Mailbox[int]
		each := effort.Of(1000)
		var sum atomic.Int64
		for id := range parties {
			w.Go(func() {
				r := rand.New(rand.NewPCG(uint64(id), 23))
				next := (id + 1) % parties
				tx, rx := m[next].Sender(1), m[id].Receiver()
				for sent, received := 0, 0; sent < each || received < each; {
					cases := [2]marcel.Case{tx, rx}
					if sent == each {
						cases[0] = nil
					}
					if received == each {
						cases[1] = nil
					}
					switch marcel.Select(cases[:]...) {
					case 0:
						sent++
					case 1:
						received++
						sum.Add(int64(rx.Value))
					}
					if r.IntN(20) == 0 {
						whatHoldersDo(r)
					}
				}
			})
		}
		w.all.Wait()
		if got := sum.Load(); got != int64(parties*each) {
			w.Errorf("%d messages of %d", got, parties*each)
		}
	})
}

// One that selects a send and a receive of the same mailbox does not serve itself.
func TestSelectDoesNotMeetItself(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		var m marcel.Mailbox[int]
		tx, rx := m.Sender(1), m.Receiver()
		if i := marcel.SelectTimeout(time.Millisecond, tx, rx, rx, tx); i != -1 {
			t.Errorf("took %d", i)
		}
		if m.TrySend(2) == nil {
			t.Error("it still waits")
		}
	})
}

// A Go channel's values that come while another case wins are kept, in order, and
// given to the next Select, or to Stop.
func TestChanReceiverKeeps(t *testing.T) {
	worlds(t, func(w *world) {
		ch := make(chan int)
		n := effort.Of(3000)
		var s marcel.Semaphore
		w.Go(func() {
			for i := range n {
				ch <- i
			}
			close(ch)
		})
		w.Go(func() {
			for range n {
				s.Release()
				marcel.Yield()
			}
		})
		w.Go(func() {
			rx := marcel.ReceiveFrom(ch)
			cases := []marcel.Case{rx, s.Case()}
			for next, units := 0, 0; next < n || units < n; {
				i := marcel.Select(cases...)
				if i == 1 {
					if units++; units%16 == 0 { // now and then it is given up
						if v, ok := rx.Stop(); ok {
							if v != next {
								w.Errorf("kept %d, want %d", v, next)
							}
							next++
						}
					}
					continue
				}
				switch {
				case rx.OK && rx.Value == next:
					next++
				case !rx.OK && next == n:
					cases[0] = nil
				default:
					w.Fatalf("received %d, %v; want %d of %d", rx.Value, rx.OK, next, n)
				}
			}
			if marcel.Select(rx); rx.OK {
				w.Errorf("%d after the end", rx.Value)
			}
		})
	})
}

// A scheduler cannot be stopped while a Select waits, and goes on; nothing is left
// when it ends.
func TestSelectAndStop(t *testing.T) {
	s := start(t, brisk(2))
	var quit marcel.Semaphore
	var m marcel.Mailbox[int]
	ch := make(chan int)
	never, cancel := context.WithCancel(context.Background())
	defer cancel()
	const n = 5
	for range n {
		s.Spawn(marcel.Attr{}, func() {
			rx := marcel.ReceiveFrom(ch)
			for marcel.Select(m.Receiver(), rx, marcel.Done(never), quit.Case(), marcel.After(300*time.Microsecond)) != 3 {
			}
			rx.Stop()
		})
	}
	for range 5 {
		soon, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		if err := s.Stop(soon); !errors.Is(err, sched.ErrAlive) {
			t.Errorf("stopped while %d wait: %v", n, err)
		}
		cancel()
	}
	var all sync.WaitGroup
	all.Go(func() {
		for range n {
			quit.Release()
		}
	})
	stop(t, s)
	all.Wait()
}
