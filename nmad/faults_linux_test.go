package nmad

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/fault"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/driver/tcp"
	"github.com/pm2-go/pm2/nmad/driver/unix"
)

// faultyLinks collects the links of a fault.Driver.
type faultyLinks struct {
	mu  sync.Mutex
	all map[[2]int][]*fault.Link // by process and peer, oldest first
}

func (fl *faultyLinks) made(own, peer int, l *fault.Link) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if fl.all == nil {
		fl.all = map[[2]int][]*fault.Link{}
	}
	fl.all[[2]int{own, peer}] = append(fl.all[[2]int{own, peer}], l)
}

// events counts what the record of the only link from own to peer tells.
func (fl *faultyLinks) events(t *testing.T, own, peer int) map[fault.Event]int {
	t.Helper()
	fl.mu.Lock()
	links := fl.all[[2]int{own, peer}]
	fl.mu.Unlock()
	if len(links) != 1 {
		t.Fatalf("%d links from rank %d to rank %d", len(links), own, peer)
	}
	count := map[fault.Event]int{}
	entries, _ := links[0].Record()
	for _, e := range entries {
		count[e.Event]++
	}
	return count
}

// overFaults runs a test over each real network inside one with faults.
func overFaults(t *testing.T, plan string, f func(t *testing.T, d driver.Driver, links *faultyLinks)) {
	p, err := fault.Parse(plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, inner := range []driver.Driver{shm.Driver{}, tcp.Driver{}, unix.Driver{}} {
		t.Run(inner.Name(), func(t *testing.T) {
			links := &faultyLinks{}
			f(t, fault.Driver{Inner: inner, Plan: p, Made: links.made}, links)
		})
	}
}

// TestLostInRendezvous: the connection between two of three processes breaks in the middle
// of a long message. The requests of that gate fail, on both sides, and say which
// peer is lost; what had come whole can still be received; the third process
// goes on with both.
func TestLostInRendezvous(t *testing.T) {
	overFaults(t, "rank=1 peer=0 cut=push:300000", func(t *testing.T, d driver.Driver, links *faultyLinks) {
		j := newJob(t, 3, d, nil)
		gate := func(own, peer int) *Gate { return j.sessions[own].Gate(peer) }
		stays := []*Request{gate(0, 2).Irecv(1, make([]byte, 200000)), gate(1, 2).Irecv(1, make([]byte, 200000))}
		waits := []*Request{gate(0, 1).Irecv(7, make([]byte, 10)), gate(1, 0).Irecv(7, make([]byte, 10))}
		early := pattern(1000, 5)
		if err := gate(1, 0).Send(2, early); err != nil {
			t.Fatal(err)
		}
		long := gate(0, 1).Irecv(3, make([]byte, 1<<20))
		sent := make(chan error, 1)
		go func() { sent <- gate(1, 0).Send(3, make([]byte, 1<<20)) }()
		lostWait(t, long, 1)
		if err := <-sent; !errors.Is(err, ErrPeerLost) {
			t.Errorf("the long send: %v, want that the peer is lost", err)
		}
		lostWait(t, waits[0], 1)
		lostWait(t, waits[1], 0)
		if err := gate(1, 0).Send(2, early); !errors.Is(err, ErrPeerLost) {
			t.Errorf("a send after the loss: %v", err)
		}
		buf := make([]byte, 1000)
		if n, err := gate(0, 1).Recv(2, buf); n != 1000 || err != nil || !bytes.Equal(buf, early) {
			t.Errorf("what had come before: %d bytes, %v", n, err)
		}
		for i, r := range stays {
			go func() { sent <- gate(2, i).Send(1, pattern(200000, 9)) }()
			if err := r.Wait(); err != nil || !bytes.Equal(r.core.Data.Buf(), pattern(200000, 9)) {
				t.Errorf("from the third process to rank %d: %v", i, err)
			}
			if err := <-sent; err != nil {
				t.Error(err)
			}
		}
		if links.events(t, 1, 0)[fault.Cut] != 1 || links.events(t, 2, 0)[fault.Cut] != 0 {
			t.Error("the connection was cut elsewhere")
		}
		j.close()
	})
}

// TestWrongHeader: one bit of the header of a packet is wrong, in each field in which that
// can be seen. The receiver says what it saw and ends that gate, and nothing else
// happens to it.
func TestWrongHeader(t *testing.T) {
	for _, field := range []string{"kind", "flags", "body", "size", "cookie", "seq"} {
		for seed := range 4 { // other bits
			plan := fault.Plan{Seed: uint64(seed), Rank: fault.Only{Set: true, Rank: 0}, Flip: fault.Point{Where: field, At: 4}} // the first one is of the link
			t.Run(fmt.Sprintf("%s/%d", field, seed), func(t *testing.T) {
				j := newJob(t, 2, fault.Driver{Inner: unix.Driver{}, Plan: plan}, nil)
				zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
				waits := one.Irecv(9, make([]byte, 10))
				for i := range 3 {
					if err := one.Send(1, pattern(100, uint64(i))); err != nil {
						t.Fatal(err)
					}
				}
				buf := make([]byte, 100)
				for i := range 2 {
					if _, err := zero.Recv(1, buf); err != nil || !bytes.Equal(buf, pattern(100, uint64(i))) {
						t.Errorf("message %d, which is right: %v", i, err)
					}
				}
				_, err := zero.Recv(1, buf)
				var why *PeerError
				if !errors.Is(err, ErrProtocol) || !errors.As(err, &why) || why.Rank != 1 || strings.Contains(err.Error(), "\n") {
					t.Errorf("the wrong header: %v, want one line that says what rank 1 must not do", err)
				}
				lostWait(t, waits, 0)
				j.close()
			})
		}
	}
}

// TestRoughNetworks: a network that refuses, cuts short, keeps silent, and lets threads
// be descheduled within its calls delivers all the same.
func TestRoughNetworks(t *testing.T) {
	const plan = "seed=11 refuse=0.2 short=0.4 delay=0.002:100us stall=0.002:200us ring=65536"
	overFaults(t, plan, func(t *testing.T, d driver.Driver, links *faultyLinks) {
		const size, threads = 2, 3
		j := newJob(t, size, d, func(c *Config) { c.Unexpected = 64 << 10 })
		var wg sync.WaitGroup
		for rank := range size {
			for thread := range threads {
				wg.Go(func() { exchange(t, j.sessions[rank].Gate(1-rank), uint64(thread), 40) })
			}
		}
		wg.Wait()
		if e := links.events(t, 0, 1); e[fault.Refused] == 0 || e[fault.Sent] == 0 || e[fault.Pulled] == 0 {
			t.Errorf("nothing went wrong, or nothing went through: %v", e)
		}
		j.close()
	})
}

// TestStalledCarriers: threads lose their processors again and again right after the kernel
// took their bytes, while the peer, which has got them, leaves: no send that arrived fails.
func TestStalledCarriers(t *testing.T) {
	overFaults(t, "seed=2 rank=1 stall=1:3ms", func(t *testing.T, d driver.Driver, links *faultyLinks) {
		for range 5 {
			j := newJob(t, 2, d, nil)
			sent := make(chan error, 1)
			go func() { sent <- j.sessions[1].Gate(0).Send(1, make([]byte, 200000)) }()
			if _, err := j.sessions[0].Gate(1).Recv(1, make([]byte, 200000)); err != nil {
				t.Error(err)
			}
			left := make(chan error, 1)
			go func() { left <- j.sessions[0].Close() }()
			for over := false; !over; time.Sleep(time.Millisecond) {
				j.sessions[1].job.poll() // as other threads would
				select {
				case err := <-sent:
					if err != nil {
						t.Errorf("the message arrived, and its send says: %v", err)
					}
					over = true
				default:
				}
			}
			if err := errors.Join(<-left, j.sessions[1].Close()); err != nil {
				t.Error(err)
			}
			for _, e := range j.engines {
				e.Close()
			}
		}
	})
}
