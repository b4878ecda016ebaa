package nmad

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"golang.org/x/sys/unix"
)

var large = flag.Bool("large", false, "send messages above 2 GiB over all drivers, which takes 5 GiB of memory")

// ghost is a link whose large track moves bytes without touching them.
type ghost struct{ *simnet.Link }

func (ghost) Push(b []byte) (int, error) { return len(b), nil }
func (ghost) Pull(b []byte) (int, error) { return len(b), nil }

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
				g.locked.link = ghost{p.links[i]}
				g.fresh().initRail(0, g.locked.link)
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

// TestBeyondTwoGiBOverDrivers moves a message that does not fit into 31 bits over each driver, in one piece
// and in 40,000-byte blocks, and compares all of it. It takes 5 GiB of memory.
func TestBeyondTwoGiBOverDrivers(t *testing.T) {
	if !*large {
		t.Skip("give -large")
	}
	const size = 1<<31 + 40_000
	msg, buf := make([]byte, size), make([]byte, size)
	unit := pattern(1<<20+7, 5) // no power of two: a piece that is out of place shows
	for at := 0; at < size; {
		at += copy(msg[at:], unit)
	}
	const block, rest = 40_000, size % 40_000
	blocks, err := NewVector(buf[:size-rest], size/block, block, block)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range driver.Names() {
		d, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		j := newJob(t, 2, d, nil)
		from, to := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		for what, op := range map[string]*Operation{
			"in one piece": {Kind: KindRecv, Match: Tag(1), Buf: buf},
			"in blocks":    {Kind: KindRecv, Match: Tag(1), Data: blocks},
		} {
			clear(buf)
			room := size
			if op.Data != nil {
				room = blocks.Size()
			}
			var r Request
			if err := to.Post(&r, op); err != nil {
				t.Fatal(err)
			}
			serr, rerr := waitBoth(from.Isend(1, msg), &r)
			if serr != nil || errors.Is(rerr, ErrTruncated) != (room < size) || r.Len() != room || !bytes.Equal(buf[:room], msg[:room]) {
				t.Errorf("%s, %s: %v, %v, %d bytes, or damaged", name, what, serr, rerr, r.Len())
			}
		}
		j.close()
	}
}
