package nmad

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver/shm"
)

// TestLoanSteady: with requests and buffers that are used again nothing is allocated.
func TestLoanSteady(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	j := newJob(t, 2, shm.Driver{}, nil)
	defer j.close()
	from, to := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	var s, r Request
	once := func() {
		b, err := from.Alloc(64 << 10)
		if err == nil {
			err = to.Post(&r, &Operation{Kind: KindRecv, Match: Tag(1), Loan: true})
		}
		if err == nil {
			err = from.Post(&s, &Operation{Match: Tag(1), Buffer: b})
		}
		if err == nil {
			err = r.Wait()
		}
		if err == nil {
			l := r.Loan()
			if len(l.Bytes()) != 64<<10 || !l.InPlace() {
				t.Fatal("the wrong message")
			}
			err = l.Release()
		}
		if err = errors.Join(err, s.Wait(), b.Release()); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		once()
	}
	if n := testing.AllocsPerRun(500, once); n >= 1 {
		t.Errorf("%v allocations a message", n)
	}
}

// TestLoanStress: thousands of messages of random sizes both ways, from several threads at once, out of little memory,
// some loaned and some not, received in every way; loans are kept for a while and released in any order.
func TestLoanStress(t *testing.T) {
	messages := 1500
	if testing.Short() || raceEnabled {
		messages = 200
	}
	j := newJob(t, 2, shm.Driver{}, func(c *Config) { c.Loans = 2 << 20 })
	defer j.close()
	defer j.moving()()
	const pairs = 3
	var wg sync.WaitGroup
	for way := range 2 {
		from, to := j.sessions[way].Gate(1-way), j.sessions[1-way].Gate(way)
		for pair := range uint64(pairs) {
			tag := pair + 10
			sizes := func() *rand.Rand { return rand.New(rand.NewPCG(pair, uint64(way))) }
			wg.Go(func() {
				rng := sizes()
				for i := range messages {
					size := rng.IntN(1 << rng.IntN(19))
					b, err := from.Alloc(size)
					for errors.Is(err, ErrNoRoom) {
						from.poll()
						b, err = from.Alloc(size)
					}
					if err != nil {
						t.Error(err)
						return
					}
					fill(b.Bytes(), tag, i)
					s := from.Start(&Operation{Match: Tag(tag), Buffer: b})
					if i%2 == 0 {
						b.Release()
						continue
					}
					if err := s.Wait(); err != nil {
						t.Error(err)
						return
					}
					b.Release()
				}
			})
			wg.Go(func() {
				rng, dice := sizes(), rand.New(rand.NewPCG(9, pair))
				room := make([]byte, 1<<19)
				type workerSend struct {
					Loan
					i, size int
				}
				var loans []workerSend
				giveBack := func(k int) {
					l := loans[k]
					loans[k] = loans[len(loans)-1]
					loans = loans[:len(loans)-1]
					if !filled(l.Bytes(), l.size, tag, l.i) {
						t.Errorf("message %d of tag %d is damaged", l.i, tag)
					}
					if err := l.Release(); err != nil {
						t.Error(err)
					}
				}
				for i := range messages {
					size := rng.IntN(1 << rng.IntN(19))
					// Each other send waits for its release, so what is kept must be given back by then.
					if dice.IntN(3) == 0 {
						n, err := to.Recv(tag, room)
						if err != nil || !filled(room[:n], size, tag, i) {
							t.Errorf("message %d of tag %d: %v, or damaged", i, tag, err)
							return
						}
						continue
					}
					r := to.Start(&Operation{Kind: KindRecv, Match: Tag(tag), Buf: room, Loan: true})
					if err := r.Wait(); err != nil {
						t.Error(err)
						return
					}
					l := r.Loan()
					if !l.InPlace() { // room is used again
						if !filled(l.Bytes(), size, tag, i) {
							t.Errorf("message %d of tag %d is damaged", i, tag)
						}
						l.Release()
						continue
					}
					loans = append(loans, workerSend{l, i, size})
					for i%2 == 1 && len(loans) > 0 || len(loans) > 2 {
						giveBack(dice.IntN(len(loans)))
					}
				}
				for len(loans) > 0 {
					giveBack(0)
				}
			})
		}
	}
	wg.Wait()
	for i, s := range j.sessions {
		g := s.Gate(1 - i)
		for g.buffers.Load().busy() {
			g.poll()
			j.sessions[1-i].Gate(i).poll()
		}
		if n := g.buffers.Load().free.Free() * pageBytes; n != 2<<20 {
			t.Errorf("rank %d: %d bytes are free in the end", i, n)
		}
		if st := g.Stats(); st.Loaned == 0 || st.Borrowed == 0 {
			t.Errorf("rank %d: %d loaned, %d borrowed", i, st.Loaned, st.Borrowed)
		}
	}
}

func (pool *bufferPool) busy() bool {
	pool.mu.Lock()
	defer pool.mu.Unlock()
	return pool.inUse > 0
}

// fill writes message i of a tag: each word depends on its place.
func fill(b []byte, tag uint64, i int) {
	x := tag<<32 + uint64(i)*0x9E3779B97F4A7C15
	for k := range b {
		b[k] = byte(x >> (k % 8 * 8))
		if k%8 == 7 {
			x += 0xff51afd7ed558ccd
		}
	}
}

func filled(b []byte, size int, tag uint64, i int) bool {
	if len(b) != size {
		return false
	}
	want := make([]byte, size)
	fill(want, tag, i)
	return bytes.Equal(b, want)
}
