package rma

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad"
)

// The lengths and offsets that matter: words, lines, pages, what goes inline and what does not, eager or not.
var (
	lengths = []int{0, 1, 3, 7, 8, 9, 63, 64, 65, 4095, 4096, inlineBytes - 1, inlineBytes, inlineBytes + 1, 100_001, 1<<20 + 7, 3<<20 + 1}
	offsets = []uint64{0, 1, 7, 8, 4095, 4097}
)

// TestPutGet: each rank puts to its neighbor and gets it back, of all lengths at all alignments, in all forms, and
// in all kinds of memory.
func TestPutGet(t *testing.T) {
	onEveryWay(t, func(t *testing.T, worlds []*World) {
		const room = 4<<20 + 8192
		refs := make(map[string][]Ref)
		s := segments(t, worlds, room)
		made, registered := make([]Ref, len(worlds)), make([]Ref, len(worlds))
		own := make(map[string][][]byte)
		for i, w := range worlds {
			m, err := w.Make(room)
			if err != nil {
				t.Fatal(err)
			}
			b := make([]byte, room+1)[1:]
			r, err := w.Register(b)
			if err != nil {
				t.Fatal(err)
			}
			made[i], registered[i] = m.Ref(0), r.Ref(0)
			own["made"] = append(own["made"], m.Bytes())
			own["registered"] = append(own["registered"], b)
			own["segment"] = append(own["segment"], s[i].Bytes())
			refs["segment"] = append(refs["segment"], s[i].At(i, 0))
		}
		refs["made"], refs["registered"] = made, registered
		if raceEnabled { // which takes what a message has written here, and a rank that is in this process besides reads, for a race
			own["registered"] = make([][]byte, len(worlds))
		}
		for kind, at := range refs {
			t.Run(kind, func(t *testing.T) {
				each(t, worlds, func(w *World) error {
					to := (w.Rank() + 1) % w.Size()
					return everyForm(w.Default(), at[to], own[kind][to], w.Rank(), !testing.Short())
				})
			})
		}
	})
}

// everyForm uses memory of room bytes, whose owner sees it in seen: all lengths at all offsets in all forms, or a
// third of that.
func everyForm(d *Domain, at Ref, seen []byte, seed int, all bool) error {
	draw := rand.New(rand.NewPCG(uint64(seed), 1))
	for i, n := range lengths {
		for k, off := range offsets {
			if n > 200_000 && off != 1 || !all && off != 1 && (i+k)%3 != 0 {
				continue
			}
			for form := range 3 {
				if !all && n > 200_000 && form != i%3 {
					continue
				}
				src, buf := make([]byte, n), make([]byte, n)
				fill(draw, src)
				var local, remote, done Event
				var err error
				switch form {
				case 0:
					err = errors.Join(d.Put(at.Add(int64(off)), src), d.Get(buf, at.Add(int64(off))))
				case 1:
					err = errors.Join(d.PutNBI(at.Add(int64(off)), src), d.Fence(), d.GetNBI(buf, at.Add(int64(off))), d.Flush(at.Rank()))
				default:
					err = errors.Join(d.PutNB(at.Add(int64(off)), src, &local, &remote), local.Wait(), remote.Wait(),
						d.GetNB(buf, at.Add(int64(off)), &done), done.Wait())
				}
				if err != nil {
					return fmt.Errorf("%d B at %d, form %d: %w", n, off, form, err)
				}
				if !bytes.Equal(src, buf) || seen != nil && !bytes.Equal(src, seen[off:][:n]) {
					return fmt.Errorf("%d B at %d, form %d: other bytes", n, off, form)
				}
			}
		}
	}
	return nil
}

func fill(draw *rand.Rand, b []byte) {
	for i := 0; i < len(b); i += 97 {
		b[i] = byte(draw.Uint32())
	}
	if len(b) > 0 {
		b[len(b)-1] = byte(draw.Uint32())
	}
}

// stripe is a part of a rank's segment that one thread uses alone, and what it must hold.
type stripe struct {
	at    Ref
	model []byte
	dirty [][2]int // put, and not flushed
}

func (st *stripe) overlaps(from, n int) bool {
	for _, x := range st.dirty {
		if from < x[1] && x[0] < from+n {
			return true
		}
	}
	return false
}

// TestRandomly: threads of all ranks, with domains of all kinds, do drawn operations on stripes of all ranks, each
// against a model of its stripes, and atomics on words that all share, which add up.
func TestRandomly(t *testing.T) {
	onEveryWay(t, func(t *testing.T, worlds []*World) {
		const threads, length, words = 3, 30_000, 8
		rounds := effort.Of(4000) / len(worlds)
		s := segments(t, worlds, 8*words+threads*len(worlds)*length)
		var mu sync.Mutex
		var sums [words]int64
		each(t, worlds, func(w *World) error {
			failed := make([]error, threads)
			var all sync.WaitGroup
			for i := range threads {
				all.Go(func() {
					kind := []nmad.Access{nmad.Shared, nmad.Serialized, nmad.Private}[i%3]
					d, err := w.Domain(DomainConfig{Access: kind})
					if err != nil {
						failed[i] = err
						return
					}
					var stripes []*stripe
					for rank := range w.Size() {
						at := uint64(8*words + (w.Rank()*threads+i)*length)
						stripes = append(stripes, &stripe{at: s[w.Rank()].At(rank, at), model: make([]byte, length)})
					}
					var mine [words]int64
					failed[i] = drawn(d, stripes, s[w.Rank()], &mine, rounds, rand.New(rand.NewPCG(uint64(w.Rank()), uint64(i))))
					mu.Lock()
					for j := range mine {
						sums[j] += mine[j]
					}
					mu.Unlock()
				})
			}
			all.Wait()
			return errors.Join(failed...)
		})
		for j, want := range sums {
			got, err := Load[int64](worlds[0].Default(), s[0].At(j%len(worlds), uint64(8*j)))
			if err != nil || got != want {
				t.Errorf("word %d is %d, %v; want %d", j, got, err, want)
			}
		}
	})
}

// drawn does rounds of operations.
func drawn(d *Domain, stripes []*stripe, s *Segment, sums *[8]int64, rounds int, draw *rand.Rand) error {
	type check struct{ got, want []byte }
	var checks []check
	settle := func(err error) error {
		for _, x := range stripes {
			x.dirty = x.dirty[:0]
		}
		for _, c := range checks {
			if !bytes.Equal(c.got, c.want) {
				err = errors.Join(err, errors.New("a get has other bytes than were put"))
			}
		}
		checks = checks[:0]
		return err
	}
	for k := range rounds {
		x := stripes[draw.IntN(len(stripes))]
		n := draw.IntN(200)
		if draw.IntN(8) == 0 {
			n = draw.IntN(20_000)
		}
		from := draw.IntN(len(x.model) - n)
		if x.overlaps(from, n) {
			if draw.IntN(2) == 0 {
				if err := d.Flush(x.at.Rank()); err != nil {
					return fmt.Errorf("round %d: %w", k, err)
				}
				x.dirty = x.dirty[:0] // only gets from there are checked later
			} else if err := settle(d.Fence()); err != nil {
				return fmt.Errorf("round %d: %w", k, err)
			}
		}
		at := x.at.Add(int64(from))
		var err error
		switch what := draw.IntN(7); what {
		case 0, 1, 2:
			src := make([]byte, n)
			fill(draw, src)
			copy(x.model[from:], src)
			switch what {
			case 0:
				err = d.Put(at, src)
			case 1:
				err = d.PutNBI(at, src)
				x.dirty = append(x.dirty, [2]int{from, from + n})
			default:
				var e Event
				err = errors.Join(d.PutNB(at, src, nil, &e), e.Wait())
			}
		case 3:
			buf := make([]byte, n)
			if err = d.Get(buf, at); !bytes.Equal(buf, x.model[from:][:n]) {
				err = errors.Join(err, errors.New("a get has other bytes than were put"))
			}
		case 4:
			buf := make([]byte, n)
			err = d.GetNBI(buf, at)
			checks = append(checks, check{buf, bytes.Clone(x.model[from:][:n])})
			x.dirty = append(x.dirty, [2]int{from, from + n})
		default:
			j, v := draw.IntN(len(sums)), draw.Int64N(1000)-500
			word := s.At(j%len(stripes), uint64(8*j))
			if sums[j] += v; what == 5 {
				_, err = Fetch(d, Add, word, v)
			} else {
				sums[j] -= 2 * v
				err = UpdateNBI(d, Sub, word, v)
			}
		}
		if err != nil {
			return fmt.Errorf("round %d: %w", k, err)
		}
	}
	return settle(d.FlushAll())
}

// atomicsOf does all atomics of a type, some rounds of them, against the same computed here.
func atomicsOf[T Word](d *Domain, at Ref, rounds int, draw func() T, integers func(op AtomicOp, a, b T) T) error {
	word := draw()
	if err := Store(d, at, word); err != nil {
		return err
	}
	for range rounds {
		for op := Add; op <= Swap; op++ {
			v := draw()
			old, err := Fetch(d, op, at, v)
			want := word
			switch op {
			case Add:
				word += v
			case Sub:
				word -= v
			case Min:
				word = min(word, v)
			case Max:
				word = max(word, v)
			case Swap:
				word = v
			default:
				if integers == nil {
					if !errors.Is(err, ErrOp) {
						return fmt.Errorf("%v of floats: %w", op, err)
					}
					continue
				}
				word = integers(op, word, v)
			}
			if err != nil || old != want {
				return fmt.Errorf("%v: %v, want %v: %w", op, old, want, err)
			}
			if got, err := Load[T](d, at); err != nil || got != word {
				return fmt.Errorf("after %v of %v: %v, want %v: %w", op, v, got, word, err)
			}
		}
		v, other := draw(), draw()
		if old, err := CompareAndSwap(d, at, word, v); err != nil || old != word {
			return fmt.Errorf("compare and swap: %v, %w", old, err)
		}
		if old, err := CompareAndSwap(d, at, v+1, other); err != nil || old != v {
			return fmt.Errorf("compare and swap in vain: %v, %w", old, err)
		}
		if err := errors.Join(UpdateNBI(d, Add, at, other), d.Flush(at.Rank())); err != nil {
			return err
		}
		word = v + other
	}
	return nil
}

func bitwise[T int32 | uint32 | int64 | uint64](op AtomicOp, a, b T) T {
	switch op {
	case And:
		return a & b
	case Or:
		return a | b
	}
	return a ^ b
}

type named int32

// TestAtomics: all operations on words of all types, to each rank.
func TestAtomics(t *testing.T) {
	onEveryWay(t, func(t *testing.T, worlds []*World) {
		s := segments(t, worlds, 4096)
		each(t, worlds, func(w *World) error {
			d := w.Default()
			draw, rounds := rand.New(rand.NewPCG(3, uint64(w.Rank()))), effort.Of(150)
			for rank := range w.Size() {
				at := s[w.Rank()].At(rank, uint64(64+w.Rank()*64))
				for i, err := range []error{
					atomicsOf(d, at.Add(4), rounds, func() int32 { return int32(draw.Uint32()) }, bitwise[int32]),
					atomicsOf(d, at.Add(4), rounds, draw.Uint32, bitwise[uint32]),
					atomicsOf(d, at.Add(8), rounds, func() int64 { return int64(draw.Uint64()) }, bitwise[int64]),
					atomicsOf(d, at.Add(8), rounds, draw.Uint64, bitwise[uint64]),
					atomicsOf(d, at.Add(12), rounds, func() float32 { return float32(draw.IntN(1000) - 500) }, nil),
					atomicsOf(d, at.Add(16), rounds, func() float64 { return float64(draw.IntN(1000) - 500) }, nil),
					atomicsOf(d, at.Add(20), rounds, func() named { return named(draw.Uint32()) }, func(op AtomicOp, a, b named) named { return named(bitwise(op, int32(a), int32(b))) }),
				} {
					if err != nil {
						return fmt.Errorf("to rank %d, type %d: %w", rank, i, err)
					}
				}
			}
			return nil
		})
	})
}

// TestSignals: a ring of signals with data of all lengths; what a waiter finds is what was put before the signal.
func TestSignals(t *testing.T) {
	onEveryWay(t, func(t *testing.T, worlds []*World) {
		s := segments(t, worlds, 2<<20)
		ctx := patience(t)
		each(t, worlds, func(w *World) error {
			d, s := w.Default(), s[w.Rank()]
			next, before := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
			data, ready, taken := uint64(4096), uint64(0), uint64(64)
			for i := range effort.Of(1000) {
				n := lengths[i%len(lengths)] % (1 << 20)
				src := bytes.Repeat([]byte{byte(i)}, n)
				op, v := SignalAdd, uint64(1)
				if i%2 == 0 {
					op, v = SignalSet, uint64(i+1)
				}
				if err := d.PutSignal(s.At(next, data), src, s.At(next, ready), op, v); err != nil {
					return err
				}
				if word, err := d.WaitSignal(ctx, s.At(w.Rank(), ready), EQ, uint64(i+1)); err != nil || word != uint64(i+1) {
					return fmt.Errorf("signal %d: %d, %w", i, word, err)
				}
				if !bytes.Equal(s.Bytes()[data:][:n], src) {
					return fmt.Errorf("signal %d is there and its data is not", i)
				}
				if err := d.PutSignal(s.At(before, data), nil, s.At(before, taken), SignalAdd, 1); err != nil {
					return err
				}
				if _, err := d.WaitSignal(ctx, s.At(w.Rank(), taken), GE, uint64(i+1)); err != nil {
					return err
				}
				if word, is, err := d.TestSignal(s.At(w.Rank(), ready), LE, uint64(i)); is || err != nil {
					return fmt.Errorf("signal %d: %d is at most %d: %w", i, word, i, err)
				}
			}
			return nil
		})
	})
}
