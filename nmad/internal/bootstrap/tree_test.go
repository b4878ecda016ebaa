package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"reflect"
	"slices"
	"testing"
	"time"
)

func TestTree(t *testing.T) {
	hosts := []int{0, 0, 1, 1, 1, 2, 2, 0}
	for own, want := range map[int]tree{
		0: {up: -1, parties: map[int][]int{1: {1}, 2: {2, 3, 4}, 5: {5, 6}, 7: {7}}},
		1: {up: 0, parties: map[int][]int{}},
		2: {up: 0, parties: map[int][]int{3: {3}, 4: {4}}},
		4: {up: 2, parties: map[int][]int{}},
		6: {up: 5, parties: map[int][]int{}},
	} {
		want.relays = []bool{true, false, true, false, false, true, false, false}
		if got := newTree(hosts, own, len(hosts)); !reflect.DeepEqual(got, want) {
			t.Errorf("rank %d: %+v, want %+v", own, got, want)
		}
	}
}

// onHosts starts a job whose processes count as those of several hosts.
func (p *party) onHosts(hosts []int, change func(int, *Config)) []*Control {
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

// cut ends the connection of a process to the one above it, as the kernel does for one that is killed.
func cut(c *Control) {
	switch r := c.role.(type) {
	case *spoke:
		r.w.conn.Close()
	case leader:
		r.down.mu.Lock()
		r.down.phase = closing // it can tell no process any more
		for _, m := range r.down.members {
			if m != nil {
				m.w.conn.Close()
			}
		}
		r.down.mu.Unlock()
		r.w.conn.Close()
	}
}

// TestSeveralHosts: news reach everybody, whichever host they come from, and the end of a leader is told as what it is.
func TestSeveralHosts(t *testing.T) {
	hosts := []int{0, 0, 1, 1, 1, 2, 2, 3}
	p := newParty(t, len(hosts))
	all := p.onHosts(hosts, same)
	for rank, c := range all {
		for i, card := range c.Cards() {
			want := p.config(i).Card
			want.Rank = i
			if !reflect.DeepEqual(card, want) {
				t.Errorf("rank %d has the card %+v of rank %d", rank, card, i)
			}
		}
	}
	p.ready(all)
	heard := 0
	expect := func(who []int, e Event) {
		t.Helper()
		heard++
		for _, rank := range who {
			events := p.await(rank, heard)
			i := slices.IndexFunc(events, func(x Event) bool { return x.Rank == e.Rank })
			if i < 0 || events[i].Kind != e.Kind || events[i].Deaf != e.Deaf {
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
	expect([]int{0, 2, 6}, Event{Rank: 5, Kind: Died, Deaf: true})
	all[2].Leave()
	heard++
	if e := p.await(0, heard); !e[1].Deaf || e[1].Kind != Left {
		t.Errorf("rank 0 heard %+v", e)
	}
	leave(all)
}

// TestLeaderGone: a host without its leader, or without rank 0, hears of the deaths on it all the same.
func TestLeaderGone(t *testing.T) {
	for _, gone := range []int{0, 1} {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprint("rank ", gone, ", dies=", dies), func(t *testing.T) {
				p := newParty(t, 4)
				child := exec.Command("sleep", "60") // in rank 3's place
				if err := child.Start(); err != nil {
					t.Skip("no child process to watch: ", err)
				}
				defer child.Process.Kill()
				all := p.onHosts([]int{0, 1, 1, 1}, func(rank int, c *Config) {
					if rank == 3 {
						c.Card.PID, c.Card.Born = child.Process.Pid, Born(child.Process.Pid)
					}
				})
				p.ready(all)
				want := Left
				if dies {
					want = Died
					if gone == 1 {
						cut(all[1])
					} else {
						h := all[0].role.(*hub)
						h.mu.Lock()
						h.phase = closing
						h.members[1].w.conn.Close()
						h.mu.Unlock()
					}
				}
				all[gone].Leave()
				if e := p.await(2, 1); e[0].Rank != gone || e[0].Kind != want || !e[0].Deaf {
					t.Fatalf("rank 2 heard %+v, want that rank %d is gone (%d)", e, gone, want)
				}
				child.Process.Kill()
				child.Wait()
				if gone == 0 {
					cut(all[3])
				}
				if e := p.await(2, 2); e[1].Rank != 3 || e[1].Kind != Died {
					t.Errorf("rank 2 heard %+v, want that rank 3 has died", e)
				}
				leave(all)
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
				p := newParty(t, len(hosts))
				all := p.onHosts(hosts, same)
				errs := make([]error, len(all))
				if dies {
					cut(all[culprit])
				} else {
					all[culprit].Abort(errors.New("no luck today"))
				}
				p.each(func(rank int) {
					if rank != culprit {
						errs[rank] = all[rank].Ready(context.Background())
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
	p := newParty(t, 4)
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
	p := newParty(t, 6)
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
