package roster

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
)

func TestTree(t *testing.T) {
	hosts := []int{0, 0, 1, 1, 1, 2, 2, 0}
	for own, want := range map[int]controlTree{
		0: {parent: -1, subtrees: map[int][]int{1: {1}, 2: {2, 3, 4}, 5: {5, 6}, 7: {7}}},
		1: {parent: 0, subtrees: map[int][]int{}},
		2: {parent: 0, subtrees: map[int][]int{3: {3}, 4: {4}}},
		4: {parent: 2, subtrees: map[int][]int{}},
		6: {parent: 5, subtrees: map[int][]int{}},
	} {
		want.relays = []bool{true, false, true, false, false, true, false, false}
		want.leader = []int{0, 0, 2, 2, 2, 5, 5, 0}
		if got := newTree(hosts, own, len(hosts)); !reflect.DeepEqual(got, want) {
			t.Errorf("rank %d: %+v, want %+v", own, got, want)
		}
	}
}

// onHosts starts a job whose processes count as those of several hosts.
func (p *testJob) onHosts(hosts []int, change func(int, *Config)) []*Roster {
	p.t.Helper()
	all, errs := p.start(func(rank int, c *Config) {
		c.Hosts = hosts
		change(rank, c)
	})
	for rank, err := range errs {
		if err != nil {
			p.t.Fatalf("rank %d: %v", rank, err)
		}
	}
	return all
}

func same(int, *Config) {}

// cut ends all connections of a process, as the kernel does for one that is killed.
func cut(c *Roster) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = closing // it can tell no process any more,
	c.stopAll()       // and looks for no other parent
	for _, m := range c.members {
		if m.wire != nil {
			m.wire.Conn.Close()
		}
	}
	if c.parentWire != nil {
		c.parentWire.Conn.Close()
	}
	c.closeListeners()
}

// TestSeveralHosts: news reaches all processes, whichever host it comes from, and the end of a leader is told as what it
// is.
func TestSeveralHosts(t *testing.T) {
	hosts := []int{0, 0, 1, 1, 1, 2, 2, 3}
	p := newTestJob(t, len(hosts))
	all := p.onHosts(hosts, same)
	for rank, c := range all {
		for i, card := range c.Cards() {
			want := p.config(i).Card
			want.Rank, want.Standby = i, card.Standby
			if !reflect.DeepEqual(card, want) {
				t.Errorf("rank %d has the card %+v of rank %d", rank, card, i)
			}
		}
	}
	p.ready(all)
	heard := 0
	expect := func(ranks []int, e Event) {
		t.Helper()
		heard++
		for _, rank := range ranks {
			events := p.await(rank, heard)
			i := slices.IndexFunc(events, func(x Event) bool { return x.Rank == e.Rank })
			if i < 0 || events[i].Kind != e.Kind || events[i].LinksOnly != e.LinksOnly {
				t.Errorf("rank %d heard %+v, want %+v", rank, events, e)
			}
		}
	}
	all[4].Leave()
	expect([]int{0, 1, 2, 3, 5, 6, 7}, Event{Rank: 4, Kind: Left})
	cut(all[3])
	expect([]int{0, 1, 2, 5, 6, 7}, Event{Rank: 3, Kind: Died})
	cut(all[1])
	expect([]int{0, 2, 5, 6, 7}, Event{Rank: 1, Kind: Died})
	cut(all[7]) // a leader without a host
	expect([]int{0, 2, 5, 6}, Event{Rank: 7, Kind: Died})
	cut(all[5])
	expect([]int{0, 2, 6}, Event{Rank: 5, Kind: Died}) // a leader with one
	all[2].Leave()
	expect([]int{0, 6}, Event{Rank: 2, Kind: Left})
	cut(all[6]) // by now a member of rank 0
	expect([]int{0}, Event{Rank: 6, Kind: Died})
	leave(all)
}

// TestLeaderGone: a host without its leader, or a job without rank 0, hears of the deaths on all hosts all the same.
func TestLeaderGone(t *testing.T) {
	t.Parallel()
	for _, gone := range []int{0, 1} {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprint("rank ", gone, ", dies=", dies), func(t *testing.T) {
				t.Parallel()
				p := newTestJob(t, 6)
				all := p.onHosts([]int{0, 1, 1, 1, 2, 2}, same)
				p.ready(all)
				defer leave(all)
				others := []int{2, 3, 4, 5, 1 - gone}
				goes(all[gone], dies)
				for _, rank := range others {
					if e := p.await(rank, 1); e[0].Rank != gone {
						t.Fatalf("rank %d heard %+v, want that rank %d is gone", rank, e, gone)
					}
				}
				cut(all[3])
				for _, rank := range []int{2, 4, 5, 1 - gone} {
					p.lost(rank, 2, 3, Died, "rank 3")
				}
				all[5].Leave()
				for _, rank := range []int{2, 4, 1 - gone} {
					p.lost(rank, 3, 5, Left, "closed its session")
				}
				cut(all[4])
				for _, rank := range []int{2, 1 - gone} {
					p.lost(rank, 4, 4, Died, "rank 4")
				}
			})
		}
	}
}

// TestAbortOnSeveralHosts: the failure of any process keeps all others from starting, with its reason.
func TestAbortOnSeveralHosts(t *testing.T) {
	hosts := []int{0, 0, 1, 1, 2, 2}
	for _, culprit := range []int{0, 1, 2, 3} {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprint("rank ", culprit, ", dies=", dies), func(t *testing.T) {
				if dies && culprit == 0 {
					t.Skip("as TestDeathBeforeReady")
				}
				p := newTestJob(t, len(hosts))
				all := p.onHosts(hosts, same)
				errs := make([]error, len(all))
				if dies {
					cut(all[culprit])
				} else {
					all[culprit].Abort(errors.New("no luck today"))
				}
				p.each(func(rank int) {
					if rank != culprit {
						errs[rank] = all[rank].Ready()
					}
				})
				for rank, err := range errs {
					if rank != culprit && !errors.Is(err, ErrAborted) {
						t.Errorf("rank %d: %v", rank, err)
					}
				}
				leave(all)
			})
		}
	}
}

// TestMissingOnSeveralHosts: a process that waits in vain says for which.
func TestMissingOnSeveralHosts(t *testing.T) {
	t.Parallel()
	p := newTestJob(t, 4)
	errs := make([]error, 4)
	p.each(func(rank int) {
		if rank == 3 {
			return
		}
		c := p.config(rank)
		c.Hosts, c.Timeout = []int{0, 0, 1, 1}, 500*time.Millisecond
		_, errs[rank] = Join(context.Background(), c)
	})
	for rank, err := range errs[:3] {
		if err == nil {
			t.Errorf("rank %d has joined", rank)
		}
		t.Logf("rank %d: %v", rank, err)
	}
}

// TestBeatsOnSeveralHosts: a host falls silent, and the others hear of it; no other is taken for lost.
func TestBeatsOnSeveralHosts(t *testing.T) {
	t.Parallel()
	p := newTestJob(t, 6)
	all := p.onHosts([]int{0, 0, 1, 1, 2, 2}, func(_ int, c *Config) { c.Silence = 2 * time.Second })
	defer leave(all)
	p.ready(all)
	time.Sleep(3 * time.Second)
	p.mu.Lock()
	for rank, events := range p.events {
		t.Errorf("rank %d heard %v", rank, events)
	}
	p.mu.Unlock()
}
