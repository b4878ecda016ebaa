package nmad

import (
	"errors"
	"math"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/simnet"
	"golang.org/x/sys/unix"
)

// ghost is a link whose large track moves bytes without touching them.
type ghost struct{ *simnet.Link }

func (ghost) PushLarge(b []byte) (int, error) { return len(b), nil }
func (ghost) PullLarge(b []byte) (int, error) { return len(b), nil }

// TestBeyondTwoGiB sends messages of sizes that do not fit into 31 and 32 bits,
// from and to memory that does not exist.
func TestBeyondTwoGiB(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("there are no such sizes on this machine")
	}
	const most = 5 << 30
	nowhere, err := unix.Mmap(-1, 0, most, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Skip("no address space: ", err)
	}
	defer unix.Munmap(nowhere)
	for _, size := range []int{1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 1, most} {
		for _, room := range []int{size, size - 1, 1 << 31} {
			room = min(room, size)
			p := newPair(simnet.Options{}, wide)
			for i, g := range p.gates {
				g.link = ghost{p.links[i]}
				g.rails[0].init(g, 0, g.link)
			}
			s := p.gates[0].Isend(1, nowhere[:size])
			r := p.gates[1].Irecv(1, nowhere[:room])
			p.settle()
			mustDone(t, s, nil)
			over, err := r.Test()
			if !over || r.Len() != room || s.Len() != size {
				t.Errorf("%d bytes into %d: done %v, %d sent, %d received", size, room, over, s.Len(), r.Len())
			}
			if errors.Is(err, ErrTruncated) != (room < size) {
				t.Errorf("%d bytes into %d: %v", size, room, err)
			}
		}
	}
}
