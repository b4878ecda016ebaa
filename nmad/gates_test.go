package nmad

import (
	"errors"
	"slices"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// TestGatesAtFirstUse: a process has a gate to itself, to those to which it sends, and to those that send to it.
func TestGatesAtFirstUse(t *testing.T) {
	const size = 6
	j := newJob(t, size, &simnet.Net{}, nil)
	ranks := func(s *Session) (ranks []int) {
		for rank := range s.job.gates.all {
			ranks = append(ranks, rank)
		}
		return ranks
	}
	for rank, s := range j.sessions {
		if got := ranks(s); !slices.Equal(got, []int{rank}) {
			t.Fatalf("rank %d has gates to %v at the start", rank, got)
		}
	}
	sent := j.sessions[1].Gate(4).Isend(1, []byte("m"))
	e, err := j.sessions[4].Recv(Tag(1), make([]byte, 1))
	if err = errors.Join(err, sent.Wait()); err != nil || e.Source != 1 {
		t.Fatalf("from rank %d: %v", e.Source, err)
	}
	for rank, want := range [size][]int{{0}, {1, 4}, {2}, {3}, {1, 4}, {5}} {
		if got := ranks(j.sessions[rank]); !slices.Equal(got, want) {
			t.Errorf("rank %d has gates to %v, want %v", rank, got, want)
		}
	}
	j.close()
	if err := j.sessions[0].Gate(3).Send(1, nil); !errors.Is(err, ErrClosed) && !errors.Is(err, ErrPeerLost) {
		t.Errorf("a gate that is asked for after Close: %v", err)
	}
}
