package pingpong

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/pattern"
)

// Wire is what an exchange needs of a gate. Send and Recv block the calling thread only; different threads may call
// them at once with different tags.
type Wire interface {
	Send(tag uint64, buf []byte) error
	Recv(tag uint64, buf []byte) (int, error)
}

// Tags: the pair's number, then what it is about.
const (
	tagMessage = iota
	tagAnswer
	tagAsk
	tagReady
	tagGo      // rank 1 may send, when messages go both ways
	tagControl // between the two ranks as such, pair 0
	tagKinds
)

func tag(pair, kind int) uint64 { return uint64(pair)*tagKinds + uint64(kind) }

// Directions of a message, as its pattern knows them.
const (
	fromRank0 = 0
	toRank0   = 1
)

// readyBytes bounds a ready message: the number, and what went wrong if something did.
const readyBytes = 8 + 256

// errVerify reports that a message did not arrive as it was sent.
var errVerify = errors.New("a message arrived damaged")

// ErrTold reports that rank 1 has reported its failure to rank 0, which prints it.
var ErrTold = errors.New("reported to rank 0")

// exchange is the part of one pair of threads in one rank, for one row. It allocates when it is made, not while it
// runs.
type exchange struct {
	wire  Wire
	row   int
	pair  int
	send  []byte // of the row's size, and a guard behind it
	recv  []byte
	ready []byte
	at    Offsets                             // of the buffers
	fresh bool                                // each message has buffers of its own
	touch bool                                // filling and checking are within the time
	check func(buf []byte, seed uint64) error // pattern.Check; tests count the calls
}

// newExchange makes one whose buffers begin that many bytes into a page.
func newExchange(w Wire, row, pair, bytes int, at Offsets) *exchange {
	return &exchange{
		wire:  w,
		row:   row,
		pair:  pair,
		at:    at,
		send:  pattern.New(bytes, at.Send),
		recv:  pattern.New(bytes, at.Receive),
		ready: make([]byte, readyBytes),
		check: pattern.Check,
	}
}

// lead is rank 0's side of the row: warm-up and then iterations. record gets the cycles of each counted round trip,
// outside of the timed part.
func (x *exchange) lead(warmup, iterations int, record func(cycles int64)) error {
	bytes := len(x.send)
	message, answer := tag(x.pair, tagMessage), tag(x.pair, tagAnswer)
	for i := range warmup + iterations {
		x.renew()
		out, in := x.send, x.recv
		if !x.touch {
			pattern.Fill(out, pattern.Seed(x.row, x.pair, fromRank0, i))
		}
		if err := x.awaitReady(i); err != nil {
			return err
		}
		t0 := asm.Cycles()
		if x.touch {
			pattern.Fill(out, pattern.Seed(x.row, x.pair, fromRank0, i))
		}
		if err := x.wire.Send(message, out); err != nil {
			return fmt.Errorf("send message %d of %d B: %w", i, bytes, err)
		}
		n, err := x.wire.Recv(answer, in)
		t1 := asm.Cycles()
		if err != nil {
			return fmt.Errorf("receive answer %d of %d B: %w", i, bytes, err)
		}
		if err := x.verify("answer", n, toRank0, i); err != nil {
			return err
		}
		if x.touch {
			t1 = asm.Cycles()
		}
		if i >= warmup {
			record(t1 - t0)
		}
	}
	return x.awaitReady(warmup + iterations) // the last message was checked, too
}

// follow is rank 1's side of the row.
func (x *exchange) follow(warmup, iterations int) error {
	bytes := len(x.send)
	message, answer := tag(x.pair, tagMessage), tag(x.pair, tagAnswer)
	for i := range warmup + iterations {
		x.renew()
		out, in := x.send, x.recv
		if !x.touch {
			pattern.Fill(out, pattern.Seed(x.row, x.pair, toRank0, i))
		}
		if err := x.sayReady(i, nil); err != nil {
			return err
		}
		n, err := x.wire.Recv(message, in)
		if err != nil {
			return fmt.Errorf("receive message %d of %d B: %w", i, bytes, err)
		}
		var wrong error
		if x.touch {
			wrong = x.verify("message", n, fromRank0, i)
			pattern.Fill(out, pattern.Seed(x.row, x.pair, toRank0, i))
		}
		// Before the check, unless that is to be in the time: the clock of rank 0 is running.
		if err := x.wire.Send(answer, out); err != nil {
			return fmt.Errorf("send answer %d of %d B: %w", i, bytes, err)
		}
		if !x.touch {
			wrong = x.verify("message", n, fromRank0, i)
		}
		if wrong != nil {
			return x.sayReady(i+1, wrong)
		}
	}
	return x.sayReady(warmup+iterations, nil)
}

// verify checks the length, every byte, and the guard behind the buffer.
func (x *exchange) verify(what string, n, direction, i int) error {
	var err error
	if n != len(x.recv) {
		err = fmt.Errorf("%d bytes came", n)
	} else if err = x.check(x.recv, pattern.Seed(x.row, x.pair, direction, i)); err == nil {
		err = pattern.CheckGuard(x.recv)
	}
	if err != nil {
		return fmt.Errorf("%w: %s %d of %d B, pair %d: %w", errVerify, what, i, len(x.recv), x.pair, err)
	}
	return nil
}

// sayReady tells rank 0, once it asks, that message i can come, or, with a failure, that none can.
func (x *exchange) sayReady(i int, failure error) error {
	if _, err := x.wire.Recv(tag(x.pair, tagAsk), nil); err != nil {
		return errors.Join(failure, fmt.Errorf("wait for the question whether message %d can come: %w", i, err))
	}
	binary.LittleEndian.PutUint64(x.ready, uint64(i))
	n := 8
	if failure != nil {
		n += copy(x.ready[8:], failure.Error())
	}
	if err := x.wire.Send(tag(x.pair, tagReady), x.ready[:n]); err != nil {
		return errors.Join(failure, fmt.Errorf("say ready for message %d: %w", i, err))
	}
	if failure != nil {
		return ErrTold
	}
	return nil
}

// awaitReady asks whether rank 1 is ready for message i, and waits until it is. That it is asked keeps
// the two in turns: unasked, what it says comes right behind the answer, whose receipt is timed.
func (x *exchange) awaitReady(i int) error {
	if err := x.wire.Send(tag(x.pair, tagAsk), nil); err != nil {
		return fmt.Errorf("ask whether message %d can come: %w", i, err)
	}
	n, err := x.wire.Recv(tag(x.pair, tagReady), x.ready)
	if err != nil {
		return fmt.Errorf("wait until rank 1 is ready for message %d: %w", i, err)
	}
	if n > 8 && n <= len(x.ready) {
		return fmt.Errorf("rank 1 says: %s", x.ready[8:n])
	}
	if n != 8 || binary.LittleEndian.Uint64(x.ready) != uint64(i) {
		return fmt.Errorf("%w: rank 1's %d bytes of ready are not those for message %d", errVerify, n, i)
	}
	return nil
}
