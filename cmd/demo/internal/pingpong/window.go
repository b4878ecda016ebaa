package pingpong

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/pattern"
	"github.com/pm2-go/pm2/nmad"
)

// A flow is one pair's part, in one rank, of a row with windows: many messages under way at once, in one direction, as
// in OSU's bandwidth test.
//
//	rank 0                                     rank 1
//	    fill the buffer
//	    |  --------------------- ask ------------>  |
//	    |  <------------------ ready(i) ---------  |
//	 t0 |  ================ window messages ====>  |  receives posted, all waited for
//	    |  <------------------ answer(i) --------  |  empty
//	 t1 |                                             check the buffer
//
// A sample is t1 - t0 divided by the window. All messages of a window are sent from one buffer and received into one,
// as that test has it: the bytes and the length of each are checked as far as that goes, the length of every one, the
// bytes of what the window left.
type flow struct {
	*exchange
	many many
}

// many starts as many sends, or receives, as there are messages in a window, and waits for all.
type many interface {
	sendAll(tag uint64, buf []byte) error
	recvAll(tag uint64, buf []byte) error
}

func newFlow(w Wire, m many, row, pair, bytes int, at Offsets) *flow {
	return &flow{exchange: newExchange(w, row, pair, bytes, at), many: m}
}

// lead is rank 0's side of the row; see exchange.lead.
func (f *flow) lead(warmup, iterations int, record func(cycles int64)) error {
	message, answer := tag(f.pair, tagMessage), tag(f.pair, tagAnswer)
	for i := range warmup + iterations {
		pattern.Fill(f.send, pattern.Seed(f.row, f.pair, fromRank0, i))
		if err := f.awaitReady(i); err != nil {
			return err
		}
		t0 := asm.Cycles()
		if err := f.many.sendAll(message, f.send); err != nil {
			return fmt.Errorf("send window %d of %d B: %w", i, len(f.send), err)
		}
		_, err := f.wire.Recv(answer, nil)
		t1 := asm.Cycles()
		if err != nil {
			return fmt.Errorf("receive answer %d to a window of %d B: %w", i, len(f.send), err)
		}
		if i >= warmup {
			record(t1 - t0)
		}
	}
	return f.awaitReady(warmup + iterations)
}

// follow is rank 1's side of the row.
func (f *flow) follow(warmup, iterations int) error {
	message, answer := tag(f.pair, tagMessage), tag(f.pair, tagAnswer)
	for i := range warmup + iterations {
		if err := f.sayReady(i, nil); err != nil {
			return err
		}
		wrong := f.many.recvAll(message, f.recv)
		if wrong != nil && !errors.Is(wrong, errVerify) {
			return fmt.Errorf("receive window %d of %d B: %w", i, len(f.recv), wrong)
		}
		if err := f.wire.Send(answer, nil); err != nil {
			return fmt.Errorf("send answer %d: %w", i, err)
		}
		if wrong == nil {
			wrong = f.verify("window", len(f.recv), fromRank0, i)
		}
		if wrong != nil {
			return f.sayReady(i+1, wrong)
		}
	}
	return f.sayReady(warmup+iterations, nil)
}

// window is many over a gate.
type window struct {
	gate     *nmad.Gate
	requests []nmad.Request
}

func newWindow(g *nmad.Gate, messages int) *window {
	return &window{gate: g, requests: make([]nmad.Request, messages)}
}

func (w *window) sendAll(tag uint64, buf []byte) error {
	for i := range w.requests {
		if err := w.gate.IsendInto(&w.requests[i], tag, buf); err != nil {
			return err
		}
	}
	for i := range w.requests {
		if err := w.requests[i].Wait(); err != nil {
			return err
		}
	}
	return nil
}

func (w *window) recvAll(tag uint64, buf []byte) error {
	if err := w.post(tag, buf); err != nil {
		return err
	}
	return w.received(buf)
}

// post starts the receives of a window, received waits for them.
func (w *window) post(tag uint64, buf []byte) error {
	for i := range w.requests {
		if err := w.gate.IrecvInto(&w.requests[i], tag, buf); err != nil {
			return err
		}
	}
	return nil
}

func (w *window) received(buf []byte) error {
	var wrong error
	for i := range w.requests {
		r := &w.requests[i]
		err := r.Wait()
		if errors.Is(err, nmad.ErrTruncated) || err == nil && r.Len() != len(buf) {
			wrong = fmt.Errorf("%w: message %d of a window has %d bytes in place of %d", errVerify, i, r.Size(), len(buf))
		} else if err != nil {
			return err
		}
	}
	return wrong
}

// part is a pair's part of a row: an exchange or a flow.
type part interface {
	lead(warmup, iterations int, record func(cycles int64)) error
	follow(warmup, iterations int) error
}

func (o *Options) part(g *nmad.Gate, row, pair int) (p part, done func()) {
	done = func() {}
	if o.Loan {
		return newLending(g, row, pair, o.Sizes[row], o.Offset, o.Touch), done
	}
	if o.Both {
		return newBoth(g, row, pair, o.Sizes[row], o.Offset, max(o.Window, 1)), done
	}
	if o.Window == 0 {
		w, done := o.wire(g)
		x := newExchange(w, row, pair, o.Sizes[row], o.Offset)
		x.touch, x.fresh = o.Touch, o.varies(Fresh)
		return x, done
	}
	return newFlow(g, newWindow(g, o.Window), row, pair, o.Sizes[row], o.Offset), done
}
