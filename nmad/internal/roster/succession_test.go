package roster

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// silence is longer than one of the processes of a job, all of which this one plays, beside those of other tests, is kept
// from running by a busy machine.
const silence = 2 * time.Second

// succession is a job of that size, in which silence is a death, with a process on each of so many hosts in turn, and
// without rank 0.
func succession(t *testing.T, size, hosts int, dies bool) (*testJob, []*Roster) {
	t.Helper()
	t.Parallel()
	p := newTestJob(t, size)
	all, errs := p.start(func(rank int, c *Config) {
		c.Silence = silence
		c.Card.Host = fmt.Sprint("host ", rank%hosts)
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	p.ready(all)
	goes(all[0], dies)
	for rank := 1; rank < size; rank++ {
		if e := p.await(rank, 1); e[0].Rank != 0 {
			t.Fatalf("rank %d heard %+v, want that rank 0 is gone", rank, e)
		}
	}
	return p, all
}

// mute has a process say nothing more, as if it were stopped.
func mute(c *Roster) { c.cancel(errors.New("muted")) }

// freeze is mute for a process that keeps the list, or would: it also tells nothing, until thaw.
func freeze(c *Roster) (thaw func()) {
	c.mu.Lock()
	mute(c)
	return c.mu.Unlock
}

// toParent calls f, under the lock, with the connection of a process to its parent, once there is one: a busy machine may
// still have it search.
func toParent(c *Roster, f func(*wire)) {
	for ; ; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		w := c.parentWire
		if w != nil {
			f(w)
		}
		c.mu.Unlock()
		if w != nil {
			return
		}
	}
}

// kill ends the connection of a process to its parent, as the kernel does for one that is killed.
func kill(c *Roster) { toParent(c, func(w *wire) { w.Conn.Close() }) }

// lost waits until a rank has heard of n others that are gone, of which the last one is the given one, in the given way.
func (p *testJob) lost(rank, n, other int, kind EventKind, why string) {
	p.t.Helper()
	all := p.await(rank, n)
	for _, e := range all {
		if e.Rank == other && e.Kind == kind && strings.Contains(e.Reason, why) {
			return
		}
	}
	p.t.Errorf("rank %d heard %+v, want of rank %d: %q", rank, all, other, why)
}

// TestSilentWithoutRankZero: when rank 0 is gone, a process on another host that falls silent is lost all the same,
// whether that comes before another one has taken rank 0's place or later; one that lives is not.
func TestSilentWithoutRankZero(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprintf("late=%v,dies=%v", late, dies), func(t *testing.T) {
				p, all := succession(t, 4, 4, dies)
				defer leave(all)
				if late {
					time.Sleep(4 * silence)
					p.mu.Lock()
					for rank, events := range p.events {
						if rank != 0 && len(events) != 1 {
							t.Errorf("rank %d heard %+v", rank, events)
						}
					}
					p.mu.Unlock()
				}
				began := time.Now()
				mute(all[3])
				p.lost(1, 2, 3, Died, "said nothing")
				p.lost(2, 2, 3, Died, "said nothing")
				if took := time.Since(began); took < silence*4/5 {
					t.Errorf("noticed after %v already", took)
				}
			})
		}
	}
}

// TestDeadWithoutRankZero: when rank 0 is gone, a process on another host that dies, or leaves, is known to have done so.
func TestDeadWithoutRankZero(t *testing.T) {
	p, all := succession(t, 4, 4, true)
	defer leave(all)
	time.Sleep(2 * silence)
	kill(all[3])
	p.lost(1, 2, 3, Died, "rank 3")
	p.lost(2, 2, 3, Died, "rank 3")
	all[2].Leave()
	p.lost(1, 3, 2, Left, "closed its session")
}

// TestSuccessorStopped: the successor does not run, so that its kernel accepts connections and nothing more comes: the
// next one takes its turn, and tells of the processes that have not come.
func TestSuccessorStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for silences, for seconds")
	}
	p, all := succession(t, 5, 5, true)
	defer leave(all)
	defer freeze(all[1])()
	for _, rank := range []int{2, 3, 4} {
		p.lost(rank, 2, 1, Died, "")
	}
	time.Sleep(2 * silence)
	mute(all[4])
	p.lost(2, 3, 4, Died, "said nothing")
	p.lost(3, 3, 4, Died, "said nothing")
}

// TestSuccessorsGone: successor after successor leaves or dies, and those that are left hear of all of them.
func TestSuccessorsGone(t *testing.T) {
	if !effort.Long() {
		t.Skip("it waits for silence after silence: with -long")
	}
	p, all := succession(t, 5, 5, false)
	defer leave(all)
	time.Sleep(2 * silence)
	all[1].Leave()
	for _, rank := range []int{2, 3, 4} {
		p.lost(rank, 2, 1, Left, "closed its session")
	}
	time.Sleep(2 * silence)
	defer freeze(all[2])()
	for _, rank := range []int{3, 4} {
		p.lost(rank, 3, 2, Died, "said nothing")
	}
	time.Sleep(2 * silence)
	mute(all[4])
	p.lost(3, 4, 4, Died, "said nothing")
}

// TestSuccessorLeaves: a process that has announced that it leaves when it is its turn to take rank 0's place says so,
// and is no death.
func TestSuccessorLeaves(t *testing.T) {
	p, all := succession(t, 4, 4, false)
	defer leave(all)
	all[1].Announce()
	for _, rank := range []int{2, 3} {
		p.lost(rank, 2, 1, Left, "closed its session")
	}
	time.Sleep(2 * silence)
	mute(all[3])
	p.lost(2, 3, 3, Died, "said nothing")
}

// TestNotCome: a process that never finds the one that has taken rank 0's place is lost.
func TestNotCome(t *testing.T) {
	p, all := succession(t, 4, 4, false)
	defer leave(all)
	all[3].stopAll() // it looks for no other parent
	p.lost(1, 2, 3, Died, "has not come")
	p.lost(2, 2, 3, Died, "has not come")
}

// TestRootOrder: hosts take turns, that of rank 0 begins with its second process, and one that cannot listen is left out.
func TestRootOrder(t *testing.T) {
	cards := make([]Card, 8)
	for rank := range cards {
		cards[rank] = Card{Host: fmt.Sprint(rank / 3), Standby: "there"}
	}
	cards[4].Standby = ""
	if got, want := rootOrder(cards), []int{0, 3, 6, 1, 7, 2, 5}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
}

// TestNoStandby: without a silence, and in a job of two, nothing listens.
func TestNoStandby(t *testing.T) {
	before, _ := os.ReadDir("/proc/self/fd")
	p := newTestJob(t, 3)
	all := p.join()
	p.ready(all)
	for _, c := range all[1:] {
		if len(c.acceptors) > 0 {
			t.Errorf("rank %d has a standby listener", c.cfg.Rank)
		}
	}
	leave(all)
	after, _ := os.ReadDir("/proc/self/fd")
	if len(after) > len(before)+1 { // the runtime's own
		t.Errorf("%d descriptors before, %d after", len(before), len(after))
	}
}
