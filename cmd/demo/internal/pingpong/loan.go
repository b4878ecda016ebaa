package pingpong

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/pattern"
	"github.com/pm2-go/pm2/nmad"
)

// A lending is one pair's part, in one rank, of a row whose messages lie in buffers of the gate: a receiver that
// is lent one reads it where it lies. It is an exchange otherwise, and so is what an option Touch adds to the time:
//
//	rank 0                                     rank 1
//	 t0 |  fill, if touched
//	    |  ================ message ==========>  |  receive
//	    |                                        |  check, release, fill, if touched
//	    |  <=============== answer ============  |  send
//	    |  check, release, if touched            |
//	 t1 |                                        |  check, release, unless touched
//	    |  check, release, unless touched        |
//	    |  ================ ask ==============>  |
//	    |  <=============== ready(i+1) ========  |
type lending struct {
	*exchange
	gate  *nmad.Gate
	sends nmad.Request
	recvs nmad.Request
	out   nmad.Buffer
}

func newLending(g *nmad.Gate, row, pair, bytes int, at Offsets, touch bool) *lending {
	x := newExchange(g, row, pair, bytes, at)
	x.touch = touch
	return &lending{exchange: x, gate: g}
}

// prepare fills a buffer for message i.
func (x *lending) prepare(direction, i int) (err error) {
	if x.out, err = x.gate.Alloc(len(x.send)); err != nil {
		return err
	}
	pattern.Fill(x.out.Bytes(), pattern.Seed(x.row, x.pair, direction, i))
	return nil
}

// start sends that buffer.
func (x *lending) start(tag uint64) error {
	return x.gate.Post(&x.sends, &nmad.Operation{Match: nmad.Tag(tag), Buffer: x.out})
}

// end waits until the buffer is ours again, and gives it back.
func (x *lending) end() error { return errors.Join(x.sends.Wait(), x.out.Release()) }

// take receives a message.
func (x *lending) take(tag uint64) (nmad.Loan, error) {
	err := x.gate.Post(&x.recvs, &nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(tag), Buf: x.recv, Loan: true})
	if err == nil {
		err = x.recvs.Wait()
	}
	return x.recvs.Loan(), err
}

// finish checks a message, and releases it.
func (x *lending) finish(l nmad.Loan, what string, direction, i int) error {
	b := l.Bytes()
	err := error(nil)
	if len(b) != len(x.recv) {
		err = fmt.Errorf("%d bytes came", len(b))
	} else {
		err = x.check(b, pattern.Seed(x.row, x.pair, direction, i))
	}
	if err == nil {
		err = pattern.CheckGuard(x.recv)
	}
	if err != nil {
		err = fmt.Errorf("%w: %s %d of %d B, pair %d: %w", errVerify, what, i, len(x.recv), x.pair, err)
	}
	return errors.Join(err, l.Release())
}

// lead is rank 0's side of the row; see exchange.lead.
func (x *lending) lead(warmup, iterations int, record func(cycles int64)) error {
	message, answer := tag(x.pair, tagMessage), tag(x.pair, tagAnswer)
	for i := range warmup + iterations {
		if err := x.awaitReady(i); err != nil {
			return err
		}
		t0 := asm.Cycles()
		if err := x.prepare(fromRank0, i); err != nil {
			return err
		}
		if !x.touch {
			t0 = asm.Cycles()
		}
		if err := x.start(message); err != nil {
			return fmt.Errorf("send message %d of %d B: %w", i, len(x.send), err)
		}
		l, err := x.take(answer)
		if err != nil {
			return fmt.Errorf("receive answer %d of %d B: %w", i, len(x.send), err)
		}
		t1 := asm.Cycles()
		err = x.finish(l, "answer", toRank0, i)
		if x.touch {
			t1 = asm.Cycles()
		}
		if err = errors.Join(err, x.end()); err != nil {
			return err
		}
		if i >= warmup {
			record(t1 - t0)
		}
	}
	return x.awaitReady(warmup + iterations)
}

// follow is rank 1's side of the row.
func (x *lending) follow(warmup, iterations int) error {
	message, answer := tag(x.pair, tagMessage), tag(x.pair, tagAnswer)
	for i := range warmup + iterations {
		if !x.touch {
			if err := x.prepare(toRank0, i); err != nil {
				return err
			}
		}
		if err := x.sayReady(i, nil); err != nil {
			return err
		}
		l, err := x.take(message)
		if err != nil {
			return fmt.Errorf("receive message %d of %d B: %w", i, len(x.send), err)
		}
		var wrong error
		if x.touch {
			wrong = x.finish(l, "message", fromRank0, i)
			if err := x.prepare(toRank0, i); err != nil {
				return err
			}
		}
		if err := x.start(answer); err != nil {
			return fmt.Errorf("send answer %d of %d B: %w", i, len(x.send), err)
		}
		if !x.touch {
			wrong = x.finish(l, "message", fromRank0, i)
		}
		if err := x.end(); err != nil {
			return err
		}
		if wrong != nil {
			return x.sayReady(i+1, wrong)
		}
	}
	return x.sayReady(warmup+iterations, nil)
}
