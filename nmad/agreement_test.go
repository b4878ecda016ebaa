package nmad

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/consensus"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// bring is the value of a process: one bit is missing.
func bring(p, round int) uint64 { return ^(uint64(1) << (8*round + p)) }

// agreeAll has ranks of a job agree, each with a value of its own.
func (j *job) agreeAll(ranks []int, round int) ([]Agreement, []error) {
	got, errs := make([]Agreement, len(j.sessions)), make([]error, len(j.sessions))
	var wg sync.WaitGroup
	for _, rank := range ranks {
		wg.Go(func() { got[rank], errs[rank] = j.sessions[rank].Agree(context.Background(), bring(rank, round%4)) })
	}
	wg.Wait()
	return got, errs
}

// wantAgreed looks whether ranks have agreed on what they should have.
func (j *job) wantAgreed(ranks []int, round int, failed []int) {
	j.t.Helper()
	got, errs := j.agreeAll(ranks, round)
	want := ^uint64(0)
	for _, rank := range ranks {
		want &= bring(rank, round%4)
	}
	for _, rank := range ranks {
		if x := got[rank]; errs[rank] != nil || x.Value != want || !slices.Equal(x.Failed, failed) {
			j.t.Fatalf("round %d, rank %d: %x %v, %v; want %x %v", round, rank, x.Value, x.Failed, errs[rank], want, failed)
		}
		if x := j.sessions[rank].Failed(); !slices.Equal(x, failed) {
			j.t.Fatalf("round %d, rank %d: %v have failed, want %v", round, rank, x, failed)
		}
	}
}

// TestAgree: all get the same, round after round; those that leave are in the list from the next round on, and
// the ones that are left make a group, whatever rank has left.
func TestAgree(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 5, d, nil)
		left := []int{0, 1, 2, 3, 4}
		for round := range 20 {
			j.wantAgreed(left, round, nil)
		}
		failed := []int{}
		for _, leaver := range []int{3, 0, 1} {
			left = slices.DeleteFunc(left, func(r int) bool { return r == leaver })
			failed = append(failed, leaver)
			waits := make([]*Request, len(left))
			for i, rank := range left {
				waits[i] = j.sessions[rank].Gate(leaver).Irecv(1, nil)
			}
			each(len(left)+1, func(i int) { // Close waits for the others, which poll
				if i == len(left) {
					if err := j.sessions[leaver].Close(); err != nil {
						t.Error(err)
					}
					return
				}
				lostWait(t, waits[i], leaver)
				if err := j.sessions[left[i]].Gate(leaver).Err(); !errors.Is(err, ErrPeerLost) {
					t.Error(err)
				}
			})
			j.wantAgreed(left, 1, failed)
			groups := make([]*Group, 5)
			each(len(left), func(i int) {
				g, err := j.sessions[left[i]].Shrink(context.Background())
				if err != nil || !slices.Equal(g.Ranks(), left) || g.Rank() != i || g.Size() != len(left) {
					t.Errorf("rank %d: %v, %v", left[i], g, err)
					return
				}
				groups[i] = g
			})
			if t.Failed() {
				return
			}
			each(len(left), func(i int) {
				g := groups[i]
				to, from := g.Gate((i+1)%g.Size()), g.Gate((i+g.Size()-1)%g.Size())
				s := to.Isend(5, []byte{byte(i)})
				buf := make([]byte, 1)
				if _, err := from.Recv(5, buf); err != nil || int(buf[0]) != (i+g.Size()-1)%g.Size() {
					t.Errorf("number %d: %v %v", i, buf, err)
				}
				if err := s.Wait(); err != nil {
					t.Error(err)
				}
				if err := g.Gate(g.Size()).Send(1, nil); !errors.Is(err, ErrRank) {
					t.Error(err)
				}
			})
		}
		j.close()
	})
}

// TestAgreeLeaversRace: sessions close while the others agree, at any moment; what those return is
// the same in all.
func TestAgreeLeaversRace(t *testing.T) {
	rounds := effort.Of(40)
	overAllAtOnce(t, func(t *testing.T, d driver.Driver) {
		for round := range rounds {
			j := newJob(t, 4, d, nil)
			all := make([][]Agreement, 4)
			each(4, func(rank int) {
				s := j.sessions[rank]
				for k := 0; ; k++ {
					x, err := s.Agree(context.Background(), bring(rank, k%4))
					if err != nil {
						t.Errorf("rank %d: %v", rank, err)
					}
					all[rank] = append(all[rank], x)
					if rank < 3 && k == 2*rank+round%3 || len(x.Failed) == 3 || err != nil {
						break
					}
				}
				if err := s.Close(); err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			})
			for rank, mine := range all {
				for k, x := range mine {
					if y := all[3][k]; x.Value != y.Value || !slices.Equal(x.Failed, y.Failed) {
						t.Errorf("agreement %d: rank %d has %v, rank 3 %v", k, rank, x, y)
					}
				}
			}
			j.close()
		}
	})
}

// TestAgreeBrokenLink: the link between two processes breaks; one of them is in the list, and knows it.
func TestAgreeBrokenLink(t *testing.T) {
	overFaults(t, "rank=1 peer=2 cut=push:100000", func(t *testing.T, d driver.Driver, _ *faultyLinks) {
		j := newJob(t, 4, d, nil)
		r := j.sessions[2].Gate(1).Irecv(3, make([]byte, 1<<20))
		s := j.sessions[1].Gate(2).Isend(3, make([]byte, 1<<20))
		each(2, func(i int) {
			if i == 0 {
				lostWait(t, r, 1)
			} else if err := s.Wait(); !errors.Is(err, ErrPeerLost) {
				t.Error(err)
			}
		})
		got, errs := j.agreeAll([]int{0, 1, 2, 3}, 0)
		for rank := range got {
			if rank == 2 {
				if !errors.Is(errs[2], ErrExcluded) {
					t.Errorf("rank 2: %v, %v", got[2], errs[2])
				}
			} else if errs[rank] != nil || !slices.Equal(got[rank].Failed, []int{2}) {
				t.Errorf("rank %d: %v, %v", rank, got[rank], errs[rank])
			}
		}
		if _, err := j.sessions[2].Agree(context.Background(), 1); !errors.Is(err, ErrExcluded) {
			t.Errorf("the next one: %v", err)
		}
		if _, err := j.sessions[3].Gate(2).Recv(1, nil); !errors.Is(err, ErrPeerLost) {
			t.Errorf("a receive from the excluded one: %v", err)
		}
		j.wantAgreed([]int{0, 1, 3}, 1, []int{2})
		j.close()
	})
}

// TestAgreeCalls: calls that do not fit together, that are given up, and that come too late.
func TestAgreeCalls(t *testing.T) {
	j := newJob(t, 3, networks()["sim"], nil)
	each(3, func(rank int) {
		var err error
		if rank == 1 {
			_, err = j.sessions[rank].Shrink(context.Background())
		} else {
			_, err = j.sessions[rank].Agree(context.Background(), 1)
		}
		if !errors.Is(err, ErrConfig) {
			t.Errorf("rank %d: %v", rank, err)
		}
	})
	// One that is given up counts.
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer stop()
	if _, err := j.sessions[2].Agree(ctx, 6); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	for rank := range 2 {
		go j.sessions[rank].Agree(context.Background(), 7)
	}
	second := make([]Agreement, 3)
	each(3, func(rank int) {
		if rank < 2 {
			time.Sleep(10 * time.Millisecond) // usually behind the call above; either order is right
		}
		second[rank], _ = j.sessions[rank].Agree(context.Background(), uint64(8|rank))
	})
	if second[2].Value != 8 && second[2].Value&6 != 6 {
		t.Error(second)
	}
	for rank, x := range second[:2] {
		if x.Value != 6 && x.Value != second[2].Value {
			t.Errorf("rank %d: %v, rank 2: %v", rank, x, second[2])
		}
	}
	// One that waits when the session is closed.
	waits := make(chan error)
	go func() {
		_, err := j.sessions[0].Agree(context.Background(), 1)
		waits <- err
	}()
	time.Sleep(10 * time.Millisecond)
	j.sessions[0].Close()
	if err := <-waits; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := j.sessions[0].Agree(context.Background(), 1); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	j.close()
	var none *Session
	if _, err := none.Shrink(context.Background()); !errors.Is(err, ErrClosed) || none.Failed() != nil {
		t.Error(err)
	}
}

// TestNotesOfStrangeKind: what a peer with the secret may send in packets NOTE ends its own gate, and no other.
func TestNotesOfStrangeKind(t *testing.T) {
	proposal := (&consensus.Note{Kind: consensus.Propose, By: consensus.NoLeader}).Encode()
	for name, wrong := range map[string]struct {
		size uint64
		body []byte
	}{
		"empty":         {36, nil},
		"longer":        {10, proposal},
		"endless":       {1 << 60, proposal},
		"nonsense":      {36, make([]byte, 36)},
		"not its place": {36, proposal},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, 3, networks()["sim"], nil)
			for rank := range 3 { // so that there are links
				each(2, func(i int) {
					g := j.sessions[[]int{rank, (rank + 1) % 3}[i]]
					if i == 0 {
						_ = g.Gate((rank+1)%3).Send(1, nil)
					} else {
						_, _ = g.Gate(rank).Recv(1, nil)
					}
				})
			}
			g := j.sessions[1].Gate(2)
			r := j.sessions[2].Gate(1).Irecv(9, nil)
			h := g.lock()
			_, err := h.link.Send(&driver.Header{Kind: flow.KindNote, Size: wrong.size, Body: uint32(len(wrong.body))}, wrong.body, nil, false)
			h.unlock()
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Wait(); !errors.Is(err, ErrProtocol) {
				t.Errorf("it ended with %v", err)
			}
			if err := j.sessions[2].Gate(0).Err(); err != nil {
				t.Error(err)
			}
			j.close()
		})
	}
}
