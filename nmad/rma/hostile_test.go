package rma

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/internal/test/modeltest"
	"github.com/pm2-go/pm2/nmad"
)

// TestHostile: a process with the job's secret sends requests that none of ours would: of all lengths, with fields
// that were drawn, more than may be under way, long puts that never come, or are longer or shorter than announced.
// Nothing is written outside of what was registered, others are served, and memory can be closed.
func TestHostile(t *testing.T) {
	worlds := job(t, "shm", 3, options{apart: true})
	s := segments(t, worlds, 4096)
	r, err := worlds[0].Register(make([]byte, 8192)[1000:2000])
	if err != nil {
		t.Fatal(err)
	}
	around := r.bytes[:cap(r.bytes)]
	hostile, good := worlds[1], worlds[2].Default()
	draw := rand.New(rand.NewPCG(5, 5))
	send := func(context int, tag uint64, b []byte) *nmad.Request {
		return hostile.s.Gate(0).Start(&nmad.Operation{Match: hostile.tagged(context, tag), Buf: b})
	}
	refs := []Ref{s[0].At(0, 0), r.Ref(0), {}}
	var sent []*nmad.Request
	for i := range effort.Of(5000) {
		q := wireRequest{
			ask: uint8(draw.IntN(int(asks) + 1)), kind: wordKind(draw.IntN(int(kinds) + 1)), op: AtomicOp(draw.IntN(int(numOps) + 1)), signals: draw.IntN(3) == 0,
			number: 1<<40 + uint64(i), at: refs[draw.IntN(3)], bytes: []uint64{0, 4, 8, 1000, 5000, 1 << 63}[draw.IntN(6)], operand: draw.Uint64(), compared: draw.Uint64(), signalAt: refs[draw.IntN(3)],
		}
		if q.ask == askLearn && draw.IntN(2) == 0 {
			q.ask = askPut
		}
		q.at.offset, q.signalAt.offset = []uint64{0, 8, 999, 1000, 1 << 62, 1<<64 - 8}[draw.IntN(6)], uint64(draw.IntN(1100))
		var head [headBytes]byte
		q.encode(&head)
		if draw.IntN(4) == 0 {
			head[draw.IntN(headBytes)] = byte(draw.Uint32())
		}
		b := append(head[:draw.IntN(3)*headBytes/2], make([]byte, []int{0, 8, 1000, inlineBytes, 2 * inlineBytes}[draw.IntN(5)])...)
		if draw.IntN(2) == 0 {
			b = head[:]
		}
		sent = append(sent, send(contextRequests, 0, b))
		if q.ask == askLong && draw.IntN(2) == 0 {
			sent = append(sent, send(contextData, q.number, make([]byte, draw.IntN(3)*int(q.bytes%10_000))))
		}
		if i%50 == 0 {
			if err := errors.Join(good.Put(r.Ref(0), []byte{7}), good.Put(s[0].At(0, 0), []byte{7})); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, b := range [][]byte{around[1000:], s[2].Bytes()} { // behind, and another process's
		if !bytes.Equal(b, make([]byte, len(b))) {
			t.Error("memory has changed that was not registered")
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := good.Put(r.Ref(0), []byte{7}); !errors.Is(err, ErrKey) {
		t.Error(err)
	}
	// An answer that is in use belongs to the thread that gives it. Those that none uses any more are looked at once no
	// request is under way.
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end) && slices.ContainsFunc(sent, isUnderWay); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	dk := &worlds[0].peers[1].desk
	taken := dk.taken.Load()
	for i := range dk.answers {
		if a := dk.answers[i].Load(); taken>>i&1 == 0 && a != nil && a.memory != nil && a.memory != s[0].part {
			t.Error("an answer holds memory that was closed")
		}
	}
	if err := freeAll(s); err != nil {
		t.Error(err)
	}
	for _, r := range sent {
		_, _ = r.Test()
	}
}

func isUnderWay(r *nmad.Request) bool {
	over, _ := r.Test()
	return !over
}

// freeAll frees a segment at all.
func freeAll(all []*Segment) error {
	failed := make(chan error)
	for _, x := range all {
		go func() { failed <- x.Free() }()
	}
	var err error
	for range all {
		err = errors.Join(err, <-failed)
	}
	return err
}

// FuzzRequest: what is decoded is what its encoding says, and is within what handle relies on.
func FuzzRequest(f *testing.F) {
	for ask := range asks {
		var head [headBytes]byte
		(&wireRequest{ask: ask, number: 7, at: Ref{1, 2, 3, 4}, bytes: 8, operand: 5, compared: 6, signalAt: Ref{7, 8, 3, 9}}).encode(&head)
		f.Add(head[:])
		f.Add(append(head[:], make([]byte, 8)...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var q wireRequest
		body, ok := q.decode(3, b)
		if !ok {
			return
		}
		var head [headBytes]byte
		if q.encode(&head); !bytes.Equal(append(head[:], body...), b) {
			t.Errorf("%x is decoded to %+v, which is %x", b, q, head)
		}
		if q.ask == askPut && uint64(len(body)) != q.bytes || q.ask == askAtomic && (!q.kind.takes(q.op) || q.kind.bytes() != q.bytes) || q.ask == askCombine && (!q.kind.takes(q.op) || uint64(len(body)) != q.bytes && uint64(len(body)) != 2*q.bytes) || q.at.rank != 3 || q.signalAt.rank != 3 {
			t.Errorf("%+v", q)
		}
	})
}

// FuzzReply: likewise of answers.
func FuzzReply(f *testing.F) {
	f.Add(make([]byte, replyBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < replyBytes {
			return
		}
		var a wireReply
		if a.decode((*[replyBytes]byte)(b)) {
			var again [replyBytes]byte
			a.encode(&again)
			var c wireReply
			if !c.decode(&again) || c != a {
				t.Errorf("%+v becomes %+v", a, c)
			}
		}
	})
}

// TestModels: the protocols of sleepers and of hazards.
func TestModels(t *testing.T) { modeltest.Check(t, "testdata/spin/*.pml") }

// TestReopen: a World comes after a World, of the same session.
func TestReopen(t *testing.T) {
	worlds := job(t, "shm", 2, options{})
	each(t, worlds, func(w *World) error {
		for range 20 {
			if err := w.Close(); err != nil {
				return err
			}
			if err := w.Default().Put(Ref{rank: 1}, nil); !errors.Is(err, ErrClosed) {
				return errors.Join(errors.New("a put after Close"), err)
			}
			if _, err := w.Make(1); !errors.Is(err, ErrClosed) {
				return errors.Join(errors.New("memory after Close"), err)
			}
			next, err := open(w.s, w.options)
			if err != nil {
				return err
			}
			s, err := next.Alloc(64)
			if err != nil {
				return err
			}
			if err := next.Default().PutSignal(s.At(1-next.rank, 0), nil, s.At(1-next.rank, 0), SignalAdd, 1); err != nil {
				return err
			}
			if _, err := next.Default().WaitSignal(t.Context(), s.At(next.rank, 0), EQ, 1); err != nil {
				return err
			}
			w = next
		}
		return w.Close()
	})
}
