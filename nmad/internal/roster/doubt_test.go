package roster

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// doubting is a job in which silence is a death, with those hosts; nil: one each, connected to rank 0.
func doubting(t *testing.T, size int, hosts []int) (*testJob, []*Roster) {
	t.Helper()
	t.Parallel()
	p := newTestJob(t, size)
	all, errs := p.start(func(rank int, c *Config) {
		c.Silence, c.Hosts = silence, hosts
		c.Card.Host = fmt.Sprint("host ", rank)
		if hosts != nil {
			c.Card.Host = fmt.Sprint("host ", hosts[rank])
		}
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	p.ready(all)
	return p, all
}

// only checks that a rank has heard of these others and of no more.
func (p *testJob) only(rank int, gone ...int) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.events[rank]) != len(gone) {
		p.t.Errorf("rank %d heard %+v, want of %v", rank, p.events[rank], gone)
	}
}

// TestParentLags: rank 0 says nothing for longer than the silence, but reads. The others lose it, and it them; they do
// not lose each other.
func TestParentLags(t *testing.T) {
	if !effort.Long() {
		t.Skip("it waits for silence after silence: with -long")
	}
	p, all := doubting(t, 5, nil)
	defer leave(all)
	mute(all[0])
	for rank := 1; rank < 5; rank++ {
		p.lost(rank, 1, 0, Died, "said nothing")
	}
	for rank := 1; rank < 5; rank++ {
		p.lost(0, 4, rank, Died, "has taken this process for lost")
	}
	time.Sleep(4 * silence) // all that have to come to rank 1 have
	for rank := 1; rank < 5; rank++ {
		p.only(rank, 0)
	}
	mute(all[4])
	for rank := 1; rank < 4; rank++ {
		p.lost(rank, 2, 4, Died, "said nothing")
	}
}

// doubt has a process take its parent for silent.
func doubt(c *Roster) {
	toParent(c, func(w *wire) { _ = w.Conn.SetReadDeadline(limit.Past) })
}

// TestDoubtAlone: a process that alone has taken rank 0, or its leader, for silent, comes back to it, or to the root, and
// no process is lost; nor is one that does so again and again. What it hears afterwards is what the others hear.
func TestDoubtAlone(t *testing.T) {
	t.Parallel()
	for name, hosts := range map[string][]int{"one host": nil, "hosts": {0, 0, 1, 1, 2}} {
		t.Run(name, func(t *testing.T) {
			p, all := doubting(t, 5, hosts)
			defer leave(all)
			for range 3 {
				doubt(all[3])
				doubt(all[4])
				time.Sleep(silence)
			}
			time.Sleep(2 * silence)
			for rank := range all {
				p.only(rank)
			}
			cut(all[3])
			for _, rank := range []int{0, 1, 2, 4} {
				p.lost(rank, 1, 3, Died, "rank 3")
			}
			all[1].Leave()
			for _, rank := range []int{0, 2, 4} {
				p.lost(rank, 2, 1, Left, "closed its session")
			}
		})
	}
}

// TestTakenForLost: a process that is taken for lost hears that, and loses the others at once.
func TestTakenForLost(t *testing.T) {
	t.Parallel()
	for name, hosts := range map[string][]int{"one host": nil, "hosts": {0, 0, 1, 1}} {
		t.Run(name, func(t *testing.T) {
			p, all := doubting(t, 4, hosts)
			defer leave(all)
			mute(all[3])
			for rank := range 3 {
				p.lost(rank, 1, 3, Died, "said nothing")
				p.lost(3, 3, rank, Died, "has taken this process for lost")
			}
			time.Sleep(2 * silence)
			for rank := range 3 {
				p.only(rank, 3)
			}
		})
	}
}

// TestLeaderLags: a leader says nothing; it is lost, and the ranks of its host go on as members of the root.
func TestLeaderLags(t *testing.T) {
	if !effort.Long() {
		t.Skip("it waits for silence after silence: with -long")
	}
	p, all := doubting(t, 6, []int{0, 1, 1, 1, 2, 2})
	defer leave(all)
	mute(all[1])
	others := []int{0, 2, 3, 4, 5}
	for _, rank := range others {
		p.lost(rank, 1, 1, Died, "said nothing")
		p.lost(1, 5, rank, Died, "has taken this process for lost")
	}
	time.Sleep(4 * silence)
	for _, rank := range others {
		p.only(rank, 1)
	}
	mute(all[0]) // now host 2's leader becomes root
	for _, rank := range []int{2, 3, 4, 5} {
		p.lost(rank, 2, 0, Died, "rank 0")
	}
	time.Sleep(4 * silence)
	for _, rank := range []int{2, 3, 4, 5} {
		p.only(rank, 1, 0)
	}
	cut(all[5])
	for _, rank := range []int{2, 3, 4} {
		p.lost(rank, 3, 5, Died, "rank 5")
	}
}

// TestHostGone: all processes of a host end at once, its leader first. The others hear of all of them without any silence
// being over.
func TestHostGone(t *testing.T) {
	p := newTestJob(t, 6)
	all := p.onHosts([]int{0, 1, 1, 1, 2, 2}, same)
	p.ready(all)
	defer leave(all)
	for _, rank := range []int{1, 2, 3} {
		cut(all[rank])
	}
	for _, rank := range []int{0, 4, 5} {
		for _, gone := range []int{1, 2, 3} {
			p.lost(rank, 3, gone, Died, fmt.Sprintf("rank %d", gone))
		}
	}
}
