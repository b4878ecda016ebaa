package mpi

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// The memory of a window of the model is slots, each of one type of elements for ever.
const slotBytes = 256

type (
	pairDouble struct {
		Value float64
		Index int32
	}
	pairShort struct {
		Value int16
		Index int32
	}
	pairInt struct{ Value, Index int32 }
)

func mustType[T any]() *datatype.Type {
	t, err := typeOf[T]()
	if err != nil {
		panic(err)
	}
	return t
}

// elementTypes is the types of slots, by number.
var elementTypes = []*datatype.Type{
	mustType[int32](), mustType[float64](), mustType[uint8](), mustType[int64](), mustType[pairDouble](), mustType[int16](), mustType[complex64](), mustType[uint32](),
	mustType[pairInt](), mustType[float32](), mustType[bool](), mustType[uint64](), mustType[int8](), mustType[pairShort](), mustType[complex128](), mustType[uint16](),
}

// opsOf is the operations of a type with which the order does not matter.
func opsOf(t *datatype.Type) []*Op {
	var all []*Op
	for _, op := range []*Op{Sum, Prod, Min, Max, BAnd, BOr, BXor, LAnd, LOr, LXor, MinLoc, MaxLoc} {
		if op.Check(t) == nil && (op != Prod || t.Uniform() < datatype.Float32) {
			all = append(all, op)
		}
	}
	return all
}

// modelRun is a random sequence of accesses that all ranks know, and what memory it leaves. Every rank makes the same.
type modelRun struct {
	*rand.Rand
	size   int
	slots  []int // by rank
	memory [][]byte
}

func newModel(seed uint64, size int) *modelRun {
	m := &modelRun{Rand: rand.New(rand.NewPCG(seed, 1)), size: size}
	for range size {
		n := 3 + m.IntN(4)
		m.slots = append(m.slots, n)
		m.memory = append(m.memory, aligned(n*slotBytes))
	}
	return m
}

// aligned is memory that begins at a multiple of 16.
func aligned(n int) []byte {
	if n == 0 {
		return nil
	}
	return bytesOf(make([]complex128, n/16+1))[:n:n]
}

func typeOfSlot(target, slot int) *datatype.Type {
	return elementTypes[(target*5+slot)%len(elementTypes)]
}

// layout is n elements of t, that lie somehow.
func (mr *modelRun) layout(n int, t *datatype.Type) Layout {
	for range 20 {
		count := 1 + mr.IntN(n)
		if n%count != 0 {
			continue
		}
		per := n / count
		var x *datatype.Type
		var err error
		switch mr.IntN(4) {
		case 0:
			x, err = datatype.Contiguous(per, t)
		case 1:
			x, err = datatype.Vector(per, 1, 1+mr.IntN(3), t)
		case 2:
			at, displs := 0, []int{}
			for range per {
				at += mr.IntN(2)
				displs = append(displs, at)
				at++
			}
			x, err = datatype.IndexedBlock(1, displs, t)
		default:
			if x, err = datatype.Contiguous(per, t); err == nil {
				x, err = datatype.Resized(x, 0, x.Extent()+t.Extent()*mr.IntN(2))
			}
		}
		if err != nil {
			panic(err)
		}
		if low, span, ok := datatype.Span(count, x); ok && low >= 0 && low+span <= slotBytes {
			return Layout{count, x}
		}
	}
	return Layout{n, t}
}

// buffer is elements that lie somehow, with random values.
func (mr *modelRun) buffer(n int, t *datatype.Type) Buffer {
	l := mr.layout(n, t)
	b := Buffer{Base: datatype.AddressOf(aligned(2 * slotBytes)), Count: l.Count, Type: l.Type}
	packed := make([]byte, b.Size())
	memory := make([]uint64, datatype.Words(n, t))
	whole := datatype.Within(memory, n, t)
	for i := range n {
		mr.value(whole.Part(i, 1))
	}
	whole.Pack(0, packed)
	b.Unpack(0, packed)
	return b
}

// single is one element with a random value.
func (mr *modelRun) single(t *datatype.Type) Buffer {
	b := datatype.Within(make([]uint64, 2), 1, t)
	mr.value(b)
	return b
}

func set[T any](b Buffer, v T) { datatype.Slice[T](b.First(), 1)[0] = v }

// value sets an element to a small one.
func (mr *modelRun) value(b Buffer) {
	v := mr.IntN(20)
	switch b.Type {
	case mustType[pairDouble]():
		set(b, pairDouble{float64(v), int32(mr.IntN(9))})
		return
	case mustType[pairInt]():
		set(b, pairInt{int32(v), int32(mr.IntN(9))})
		return
	case mustType[pairShort]():
		set(b, pairShort{int16(v), int32(mr.IntN(9))})
		return
	}
	switch k := b.Type.Uniform(); k {
	case datatype.Bool:
		set(b, v&1 == 1)
	case datatype.Float32:
		set(b, float32(v))
	case datatype.Float64:
		set(b, float64(v))
	case datatype.Complex64:
		set(b, complex(float32(v), 1))
	case datatype.Complex128:
		set(b, complex(float64(v), 1))
	default:
		switch k.Size() {
		case 1:
			set(b, uint8(v))
		case 2:
			set(b, uint16(v))
		case 4:
			set(b, uint32(v))
		default:
			set(b, uint64(v))
		}
	}
}

// apply combines origin with what is at the target, as a program with one process would, and returns what was there.
func (mr *modelRun) apply(op *Op, origin, there Buffer, t *datatype.Type) []byte {
	old := make([]byte, there.Size())
	there.Pack(0, old)
	n := len(old) / t.Size()
	a, b := datatype.Within(make([]uint64, datatype.Words(n, t)), n, t), datatype.Within(make([]uint64, datatype.Words(n, t)), n, t)
	now := make([]byte, len(old))
	origin.Pack(0, now)
	a.Unpack(0, now)
	b.Unpack(0, old)
	switch op {
	case Replace:
		b = a
	case NoOp:
	default:
		op.Apply(a, b)
	}
	b.Pack(0, now)
	there.Unpack(0, now)
	return old
}

// trial is an access of a rank, and, after the epoch, a look at what it has read.
type trial struct {
	target int
	do     func(w *Window, at int) error // at: the displacement of its slot
	slot   int
	check  func() error
}

func packedOf(b Buffer) []byte {
	out := make([]byte, b.Size())
	b.Pack(0, out)
	return out
}

func reads(what string, b Buffer, want []byte) func() error {
	return func() error {
		if got := packedOf(b); !bytes.Equal(got, want) {
			return fmt.Errorf("%s of %d elements of %v reads %v, want %v", what, b.Count, b.Type, got, want)
		}
		return nil
	}
}

// round is what each rank does in an epoch. No two ranks do what conflicts.
func (mr *modelRun) round() [][]trial {
	all := make([][]trial, mr.size)
	for target := range mr.size {
		for slot := range mr.slots[target] {
			t := typeOfSlot(target, slot)
			memory := mr.memory[target][slot*slotBytes:][:slotBytes]
			on := func(l Layout) Buffer { return Buffer{Base: datatype.AddressOf(memory), Count: l.Count, Type: l.Type} }
			n := 1 + mr.IntN(slotBytes/t.Extent()/3)
			add := func(rank int, check func() error, do func(w *Window, at int) error) {
				all[rank] = append(all[rank], trial{target: target, slot: slot, do: do, check: check})
			}
			one := mr.IntN(mr.size)
			switch mr.IntN(6) {
			case 0: // a put
				origin, l := mr.buffer(n, t), mr.layout(n, t)
				there := on(l)
				datatype.Copy(&there, &origin)
				add(one, nil, func(w *Window, at int) error { return w.Put(origin, target, at, l) })
			case 1: // gets of several
				for rank := range mr.size {
					origin, l := mr.buffer(n, t), mr.layout(n, t)
					add(rank, reads("get", origin, packedOf(on(l))), func(w *Window, at int) error { return w.Get(origin, target, at, l) })
				}
			case 2: // accumulates of several, with one operation
				ops := opsOf(t)
				if len(ops) == 0 {
					continue
				}
				op := ops[mr.IntN(len(ops))]
				for rank := range mr.size {
					origin, l := mr.buffer(n, t), mr.layout(n, t)
					mr.apply(op, origin, on(l), t)
					add(rank, nil, func(w *Window, at int) error { return w.Accumulate(op, origin, target, at, l) })
				}
			case 3: // those of one in their order, with what they read
				ops := append(opsOf(t), Replace, NoOp)
				for range 4 {
					op := ops[mr.IntN(len(ops))]
					origin, result, l := mr.buffer(n, t), mr.buffer(n, t), mr.layout(n, t)
					old := mr.apply(op, origin, on(l), t)
					if mr.IntN(2) == 0 {
						add(one, nil, func(w *Window, at int) error { return w.Accumulate(op, origin, target, at, l) })
						continue
					}
					add(one, reads("get-accumulate "+op.String(), result, old), func(w *Window, at int) error {
						return w.GetAccumulate(op, origin, result, target, at, l)
					})
				}
			case 4: // fetches of one
				ops := append(opsOf(t), Replace, NoOp)
				for range 3 {
					op := ops[mr.IntN(len(ops))]
					origin, result := mr.single(t), mr.single(t)
					old := mr.apply(op, origin, on(Layout{1, t}), t)
					add(one, reads("fetch-and-op "+op.String(), result, old), func(w *Window, at int) error {
						return w.FetchAndOp(op, origin, result, target, at)
					})
				}
			case 5: // compare and swap of one
				for range 2 {
					old, next, result := mr.single(t), mr.single(t), mr.single(t)
					if mr.IntN(2) == 0 {
						there := on(Layout{1, t})
						old.Unpack(0, packedOf(there))
					}
					was := packedOf(on(Layout{1, t}))
					if bytes.Equal(was, packedOf(old)) {
						mr.apply(Replace, next, on(Layout{1, t}), t)
					}
					add(one, reads("compare-and-swap", result, was), func(w *Window, at int) error {
						return w.CompareAndSwap(old, next, result, target, at)
					})
				}
			}
		}
	}
	return all
}

// epochs is how the accesses of a round are made.
var epochs = map[string]func(w *Window, m *modelRun, accesses []func() error, targets []int) error{
	"fence": func(w *Window, _ *modelRun, accesses []func() error, _ []int) error {
		err := w.Fence(NoPrecede)
		for _, do := range accesses {
			err = errors.Join(err, do())
		}
		return errors.Join(err, w.Fence(NoSucceed))
	},
	"post-start": func(w *Window, _ *modelRun, accesses []func() error, _ []int) error {
		err := errors.Join(w.Post(w.Group(), 0), w.Start(w.Group(), 0))
		for _, do := range accesses {
			err = errors.Join(err, do())
		}
		return errors.Join(err, w.Complete(), w.Wait())
	},
	"lock": func(w *Window, m *modelRun, accesses []func() error, targets []int) error {
		var err error
		for i, do := range accesses {
			kind := LockKind(i & 1)
			err = errors.Join(err, w.Lock(kind, targets[i], 0), do(), w.Unlock(targets[i]))
		}
		return errors.Join(err, w.Comm().Barrier())
	},
	"lock all": func(w *Window, m *modelRun, accesses []func() error, targets []int) error {
		err := w.LockAll(0)
		for i, do := range accesses {
			err = errors.Join(err, do())
			if i%3 == 0 {
				err = errors.Join(err, w.Flush(targets[i]))
			}
		}
		return errors.Join(err, w.FlushLocalAll(), w.FlushAll(), w.UnlockAll(), w.Comm().Barrier())
	},
}

// modelWindow makes a window whose part at each rank has the size of the model, and says where the memory of a rank
// begins, in units.
func modelWindow(c *Comm, f windowKind, m *modelRun) (w *Window, own []byte, begin func(rank int) int, err error) {
	n, unit := m.slots[c.Rank()]*slotBytes, 1<<(c.Rank()%5)
	zero := func(int) int { return 0 }
	switch f {
	case allocatedWindow:
		w, err = NewAllocatedWindow(c, n, unit)
	case sharedWindow:
		w, err = NewSharedWindow(c, n, unit)
	case createdWindow:
		w, err = NewWindow(c, aligned(n), unit)
	case dynamicWindow:
		if w, err = NewDynamicWindow(c); err != nil {
			return nil, nil, nil, err
		}
		own = aligned(n)
		at, err := w.Attach(own)
		if err != nil {
			return nil, nil, nil, err
		}
		all := make([]int, c.Size())
		err = Allgather(c, []int{at}, all)
		return w, own, func(rank int) int { return all[rank] }, err
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return w, w.Bytes(), zero, nil
}

func modelTest(c *Comm, f windowKind, epoch string, seed uint64, rounds int, apart bool) error {
	m := newModel(seed, c.Size())
	w, own, begin, err := modelWindow(c, f, m)
	if err != nil {
		return err
	}
	w.unmapped = apart
	if err := c.Barrier(); err != nil {
		return err
	}
	for i := range rounds {
		round := m.round()
		var accesses []func() error
		var targets []int
		for _, x := range round[c.Rank()] {
			_, unit, err := w.Extent(x.target)
			if err != nil {
				return err
			}
			accesses, targets = append(accesses, func() error { return x.do(w, begin(x.target)+x.slot*slotBytes/unit) }), append(targets, x.target)
		}
		err := epochs[epoch](w, m, accesses, targets)
		for _, x := range round[c.Rank()] {
			if x.check != nil && err == nil {
				err = x.check()
			}
		}
		if err == nil {
			err = w.Sync()
		}
		if want := m.memory[c.Rank()]; err == nil && !bytes.Equal(own, want) {
			at := 0
			for own[at] == want[at] {
				at++
			}
			slot := at / slotBytes
			err = fmt.Errorf("byte %d, slot %d of %v, is %d, want %d", at, slot, typeOfSlot(c.Rank(), slot), own[at], want[at])
		}
		if err = errors.Join(err, w.Sync(), c.Barrier()); err != nil {
			return fmt.Errorf("seed %d, round %d: %w", seed, i, err)
		}
	}
	return w.Free()
}

// TestWindowModel: random accesses with random datatypes leave, and read, what they would one after the other.
func TestWindowModel(t *testing.T) {
	forms := map[string]windowKind{"allocate": allocatedWindow, "create": createdWindow, "shared": sharedWindow, "dynamic": dynamicWindow}
	for _, driver := range []string{"shm", "tcp"} {
		for epoch := range epochs {
			t.Run(driver+"/"+epoch, func(t *testing.T) {
				seed := rand.Uint64N(1 << 32)
				sizes := []int{1, 2, 3, 8}
				rounds := 6
				if driver == "tcp" {
					sizes, rounds = []int{3}, 3
				}
				for _, size := range sizes {
					if size > 3 {
						rounds = 3
					}
					for rank, err := range errsOver(t, driver, size, func(c *Comm) error {
						for _, name := range []string{"allocate", "create", "shared", "dynamic"} {
							if driver != "shm" && name == "shared" {
								continue
							}
							if err := modelTest(c, forms[name], epoch, seed, rounds, false); err != nil {
								return fmt.Errorf("%s, size %d: %w", name, size, err)
							}
						}
						return modelTest(c, allocatedWindow, epoch, seed, rounds, true)
					}) {
						if err != nil {
							t.Errorf("rank %d: %v", rank, err)
						}
					}
				}
			})
		}
	}
}
