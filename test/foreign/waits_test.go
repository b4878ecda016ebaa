//go:build cgo

package foreign

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
)

// A pairOf is two sessions of this process, each with an engine of its own. C threads wait in that of rank 1.
type pairOf struct {
	engines  [2]*pioman.Engine
	sessions [2]*nmad.Session
}

func openPair(t *testing.T) (p *pairOf) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p = &pairOf{}
	var errs [2]error
	var both sync.WaitGroup
	for rank := range p.sessions {
		p.engines[rank] = pioman.New(pioman.Config{})
		c := nmad.Config{
			Rank: rank, Size: 2, Rendezvous: l.Addr().String(), Secret: []byte("a secret of at least sixteen bytes"), Driver: "shm",
			Engine: p.engines[rank], Linger: 10 * time.Second,
		}
		if rank == 0 {
			c.Listener = l
		}
		both.Go(func() { p.sessions[rank], errs[rank] = nmad.Open(context.Background(), c) })
	}
	both.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pairOf) close(t *testing.T) {
	var both sync.WaitGroup
	for rank, s := range p.sessions {
		both.Go(func() {
			if err := errors.Join(s.Close(), p.engines[rank].Close()); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
	}
	both.Wait()
}

// waitingCThreads is how many wait at a time.
const waitingCThreads = 6

// TestStopBesideC: the engine of C threads that wait, in Recv and in Wait, is stopped and started again and again. Each
// gets its message.
func TestStopBesideC(t *testing.T) {
	carriers := map[string]func() *sched.Scheduler{
		"a scheduler":  func() *sched.Scheduler { return start(t, sched.Config{VPs: 2}) },
		"no scheduler": func() *sched.Scheduler { return nil },
	}
	for name, carrier := range carriers {
		t.Run(name, func(t *testing.T) {
			p, s := openPair(t), carrier()
			var carried pioman.Scheduler // nil stands for none
			if s != nil {
				carried = s
			}
			from, to := p.sessions[1].Gate(0), p.sessions[0].Gate(1)
			rounds := effort.Of(600)
			var there, over atomic.Int64 // of all C threads: waits begun, and ended
			ended := make(chan error, 1)
			go func() {
				ended <- fromC(waitingCThreads, func(rank int) {
					var b [8]byte
					for i := range rounds {
						there.Add(1)
						var err error
						if i%2 == 0 {
							_, err = from.Recv(uint64(rank), b[:])
						} else {
							err = from.Irecv(uint64(rank), b[:]).Wait()
						}
						over.Add(1)
						if err != nil || b[0] != byte(rank) {
							t.Errorf("C thread %d, wait %d: %v, message %d", rank, i, err, b[0])
						}
					}
				})
			}()
			for i := range 2 * rounds { // each C thread calls twice
				stop, err := p.engines[1].Attach(carried)
				if err != nil {
					t.Fatal(err)
				}
				meet(t, &there, int64(i+1)*waitingCThreads)
				nap(i)
				early := i % 3 // of three messages one comes before the stop, one during it, and one after it
				send := func(when int) {
					for rank := range waitingCThreads {
						if rank%3 == when {
							if err := to.Send(uint64(rank), []byte{byte(rank)}); err != nil {
								t.Error(err)
							}
						}
					}
				}
				send(early)
				stopped := make(chan struct{})
				go func() { stop(); close(stopped) }()
				send((early + 1) % 3)
				<-stopped
				send((early + 2) % 3)
				meet(t, &over, int64(i+1)*waitingCThreads)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			p.close(t)
		})
	}
}

// TestCloseBesideC: the session, then the engine, of C threads that wait is closed, stopped before, meanwhile, or not
// at all. Each wait ends with an error that says so, or that the peer has closed its own.
func TestCloseBesideC(t *testing.T) {
	for i := range effort.Of(100) {
		p := openPair(t)
		e := p.engines[1]
		stop, err := e.Attach(nil)
		if err != nil {
			t.Fatal(err)
		}
		var there atomic.Int64
		ended := make(chan error, 1)
		go func() {
			ended <- fromC(waitingCThreads, func(rank int) {
				there.Add(1)
				_, err := p.sessions[1].Gate(0).Recv(uint64(rank), nil)
				if !errors.Is(err, nmad.ErrClosed) && !errors.Is(err, nmad.ErrPeerLost) { // whichever side closes first
					t.Errorf("C thread %d of a session that is closed: %v", rank, err)
				}
			})
		}()
		meet(t, &there, waitingCThreads)
		nap(i)
		var both sync.WaitGroup
		if i%3 > 0 {
			both.Go(stop)
		}
		if i%3 > 1 {
			both.Wait()
		}
		p.close(t)
		both.Wait()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		stop()
	}
}

// TestEngineClosedBesideC: C threads that wait for completions that nothing signals are told when their engine is
// closed.
func TestEngineClosedBesideC(t *testing.T) {
	for i := range effort.Of(200) {
		e := pioman.New(pioman.Config{})
		if i%2 == 0 {
			if _, err := e.Enable(); err != nil {
				t.Fatal(err)
			}
		}
		var there atomic.Int64
		ended := make(chan error, 1)
		go func() {
			ended <- fromC(waitingCThreads, func(rank int) {
				there.Add(1)
				if err := new(pioman.Completion).Wait(e, 1); !errors.Is(err, pioman.ErrClosed) {
					t.Errorf("C thread %d: %v", rank, err)
				}
			})
		}()
		meet(t, &there, waitingCThreads)
		nap(i)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// meet waits until as many have come.
func meet(t *testing.T, n *atomic.Int64, want int64) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); n.Load() < want; time.Sleep(20 * time.Microsecond) {
		if time.Now().After(end) {
			panic(fmt.Sprintf("%d of %d waits after two minutes", n.Load(), want)) // shows where the rest are
		}
	}
}

// nap is for the i-th time: those that wait poll still, have just gone to sleep, or sleep for long.
func nap(i int) { time.Sleep([]time.Duration{0, 200, 1500, 4000}[i%4] * time.Microsecond) }
