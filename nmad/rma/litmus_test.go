package rma

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
)

// until has a process look for something until it is so.
func until(is func() (bool, error)) error {
	for looks := 0; ; looks++ {
		if yes, err := is(); yes || err != nil {
			return err
		}
		giveWay(looks)
	}
}

// giveWay pauses; after many looks it lets other threads run, and other processes, which may have to share the CPU.
func giveWay(looks int) {
	if asm.Pause(); looks > 1000 {
		marcel.Yield()
		_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
}

// litmus has two processes do what must come out in one way, again and again: rank 0 writes and rank 1 reads, and
// then both do both.
func litmus(w *World, rounds int) error {
	s, err := w.Alloc(16 * (rounds + 1))
	if err != nil {
		return err
	}
	return errors.Join(passing(w, s, rounds), buffering(w, s, rounds))
}

// passing: data by a put, then a fence, then a flag, at rank 1; which sees the data once it sees the flag.
func passing(w *World, s *Segment, rounds int) error {
	d := w.Default()
	for i := range uint64(rounds) {
		data, flag := s.At(1, 8*i), s.At(1, 8*(uint64(rounds)+i))
		if w.rank == 0 {
			b := binary.LittleEndian.AppendUint64(nil, i+1)
			if err := errors.Join(d.PutNBI(data, b), d.Fence(), UpdateNBI(d, Swap, flag, i+1)); err != nil {
				return err
			}
			continue
		}
		if err := until(func() (bool, error) {
			v, err := Load[uint64](d, flag)
			return v == i+1, err
		}); err != nil {
			return err
		}
		if v, err := Load[uint64](d, data); err != nil || v != i+1 {
			return fmt.Errorf("passing %d: the flag is there, the data is %d: %w", i, v, err)
		}
	}
	return errors.Join(d.FlushAll(), w.barrier())
}

// buffering: both put to the other one, flush, and read what the other one puts here: one of them sees it.
func buffering(w *World, s *Segment, rounds int) error {
	d, other := w.Default(), 1-w.rank
	clear(s.Bytes())
	if err := w.barrier(); err != nil {
		return err
	}
	saw := make([]bool, rounds)
	gate := uint64(8 * rounds)
	for i := range uint64(rounds) {
		if err := Store(d, s.At(other, gate), i+1); err != nil {
			return err
		}
		if err := until(func() (bool, error) {
			v, err := Load[uint64](d, s.At(w.rank, gate))
			return v >= i+1, err
		}); err != nil {
			return err
		}
		if err := errors.Join(d.PutNBI(s.At(other, 8*i), []byte{1, 0, 0, 0, 0, 0, 0, 0}), d.Flush(other)); err != nil {
			return err
		}
		v, err := Load[uint64](d, s.At(w.rank, 8*i))
		if err != nil {
			return err
		}
		saw[i] = v == 1
	}
	mine, theirs := make([]byte, rounds), make([]byte, rounds)
	for i, is := range saw {
		if is {
			mine[i] = 1
		}
	}
	g := w.s.Gate(other)
	send, receive := g.Isend(2, mine), g.Irecv(2, theirs)
	if err := errors.Join(send.Wait(), receive.Wait()); err != nil {
		return err
	}
	for i := range mine {
		if mine[i]+theirs[i] == 0 {
			return fmt.Errorf("buffering %d: neither sees what the other one has put and flushed", i)
		}
	}
	return w.barrier()
}

// fences has two processes store, each another word, of rank 0, and two read both in different orders: they agree
// which came first.
func fences(w *World, rounds int) error {
	s, err := w.Alloc(16 * (rounds + 1))
	if err != nil {
		return err
	}
	d, n := w.Default(), uint64(rounds)
	seen := make([]byte, rounds) // 1: the first of the two only
	x, y := func(i uint64) Ref { return s.At(0, 16*i) }, func(i uint64) Ref { return s.At(0, 16*i+8) }
	for i := range n {
		switch first, next := x(i), y(i); w.rank {
		case 0, 1:
			if w.rank == 1 {
				first = next
			}
			if err := Store(d, first, uint64(1)); err != nil {
				return err
			}
		default:
			if w.rank == 3 {
				first, next = next, first
			}
			var a, b uint64
			if err := until(func() (bool, error) { // reads until one of them is there
				var err1, err2 error
				a, err1 = Load[uint64](d, first)
				b, err2 = Load[uint64](d, next)
				return a+b > 0, errors.Join(err1, err2)
			}); err != nil {
				return err
			}
			if a == 1 && b == 0 {
				seen[i] = 1
			}
		}
	}
	if w.rank == 3 {
		return errors.Join(w.s.Gate(2).Send(3, seen), w.barrier())
	}
	if w.rank == 2 {
		theirs := make([]byte, rounds)
		if _, err := w.s.Gate(3).Recv(3, theirs); err != nil {
			return err
		}
		for i := range seen {
			if seen[i] == 1 && theirs[i] == 1 {
				return fmt.Errorf("order %d: one sees the first word alone, one the second", i)
			}
		}
	}
	return w.barrier()
}

// change is what a client did to a word.
type change struct {
	Op   AtomicOp
	V, X uint64
}

// atomicWord is a word that is changed by one operation after the other.
var atomicWord = porcupine.Model{
	Init: func() any { return uint64(0) },
	Step: func(state, in, out any) (bool, any) {
		word, c, old := state.(uint64), in.(change), out.(uint64)
		next := word
		switch c.Op {
		case Add:
			next += c.V
		case Xor:
			next ^= c.V
		case Swap, opStore:
			next = c.V
		case opCompareAndSwap:
			if word == c.X {
				next = c.V
			}
		}
		return c.Op == opStore || old == word, next
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v: %v", in, out) },
}

// now is a time that the processes of a host share, in nanoseconds.
func now() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// clients do rounds of drawn operations on a word by several threads, and return what they did.
func clients(d *Domain, at Ref, base, threads, rounds int) (all []porcupine.Operation, failed error) {
	var mu sync.Mutex
	var over sync.WaitGroup
	for i := range threads {
		over.Go(func() {
			draw := rand.New(rand.NewPCG(uint64(base), uint64(i)))
			for range rounds {
				c := change{[]AtomicOp{Add, Xor, Swap, opCompareAndSwap, opLoad, opStore}[draw.IntN(6)], draw.Uint64N(4), draw.Uint64N(4)}
				began := now()
				old, err := d.atomic(kindUint64, c.Op, at, c.V, c.X, true)
				ended := now()
				mu.Lock()
				failed = errors.Join(failed, err)
				all = append(all, porcupine.Operation{ClientId: base + i, Input: c, Call: began, Output: old, Return: ended})
				mu.Unlock()
			}
		})
	}
	over.Wait()
	return all, failed
}

// TestLinear: atomics of threads of all processes on one word come one after the other.
func TestLinear(t *testing.T) {
	onEveryWay(t, func(t *testing.T, worlds []*World) {
		s := segments(t, worlds, 64)
		var mu sync.Mutex
		var all []porcupine.Operation
		each(t, worlds, func(w *World) error {
			ops, err := clients(w.Default(), s[w.Rank()].At(0, 8), 10*w.Rank(), 2, 40)
			mu.Lock()
			all = append(all, ops...)
			mu.Unlock()
			return err
		})
		if !porcupine.CheckOperations(atomicWord, all) {
			t.Error("no order explains what they got")
		}
	})
}

// linear is the same among processes, in rounds of a word each; rank 0 judges.
func linear(w *World, rounds int) error {
	s, err := w.Alloc(8 * rounds)
	if err != nil {
		return err
	}
	const threads, each, bytes = 2, 10, 6 * 8
	for i := range rounds {
		if err := w.barrier(); err != nil {
			return err
		}
		ops, err := clients(w.Default(), s.At(i%w.size, uint64(8*i)), 10*w.rank, threads, each)
		if err != nil {
			return err
		}
		b := make([]byte, 0, threads*each*bytes)
		for _, o := range ops {
			c := o.Input.(change)
			for _, v := range []uint64{uint64(o.ClientId), uint64(c.Op)<<32 | c.V<<16 | c.X, uint64(o.Call), o.Output.(uint64), uint64(o.Return), 0} {
				b = binary.LittleEndian.AppendUint64(b, v)
			}
		}
		if w.rank > 0 {
			if err := w.s.Gate(0).Send(4, b); err != nil {
				return err
			}
			continue
		}
		for rank := 1; rank < w.size; rank++ {
			if _, err := w.s.Gate(rank).Recv(4, b); err != nil {
				return err
			}
			for x := b; len(x) > 0; x = x[bytes:] {
				v := func(i int) uint64 { return binary.LittleEndian.Uint64(x[8*i:]) }
				ops = append(ops, porcupine.Operation{ClientId: int(v(0)), Input: change{AtomicOp(v(1) >> 32), v(1) >> 16 & 0xffff, v(1) & 0xffff}, Call: int64(v(2)), Output: v(3), Return: int64(v(4))})
			}
		}
		if porcupine.CheckOperationsTimeout(atomicWord, ops, 10*time.Second) == porcupine.Illegal {
			return fmt.Errorf("round %d: no order explains what they got: %+v", i, ops)
		}
	}
	return nil
}
