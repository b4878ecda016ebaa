package pingpong

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/pattern"
	"github.com/pm2-go/pm2/nmad"
)

// A both is one pair's part, in one rank, of a row in which messages go in both directions at the same time, one each
// way or a window each way, as in OSU's bidirectional bandwidth test.
//
//	rank 0                                     rank 1
//	    |  fill, post receives                     |  fill, post receives
//	    |  --------------------- ask ----------->  |
//	    |  <------------------ ready(i) ---------  |
//	 t0 |  --------------------- go ------------>  |
//	    |  ================ messages ===========>  |
//	    |  <=============== messages ============  |
//	 t1 |  check                                   |  check
//
// Rank 1 sends nothing before it has the go, so none of its messages is on its way before t0; the go is in the time.
type both struct {
	*exchange
	out, in *window
}

func newBoth(g *nmad.Gate, row, pair, bytes int, at Offsets, messages int) *both {
	return &both{newExchange(g, row, pair, bytes, at), newWindow(g, messages), newWindow(g, messages)}
}

// lead is rank 0's side of the row; see exchange.lead.
func (b *both) lead(warmup, iterations int, record func(cycles int64)) error {
	for i := range warmup + iterations {
		pattern.Fill(b.send, pattern.Seed(b.row, b.pair, fromRank0, i))
		if err := b.in.post(tag(b.pair, tagAnswer), b.recv); err != nil {
			return fmt.Errorf("post the receives of round %d of %d B: %w", i, len(b.send), err)
		}
		if err := b.awaitReady(i); err != nil {
			return err
		}
		t0 := asm.Cycles()
		err := b.wire.Send(tag(b.pair, tagGo), nil)
		if err == nil {
			err = b.out.sendAll(tag(b.pair, tagMessage), b.send)
		}
		if err == nil {
			err = b.in.received(b.recv)
		}
		t1 := asm.Cycles()
		if err == nil {
			err = b.verify("message of rank 1", len(b.recv), toRank0, i)
		}
		if err != nil {
			return fmt.Errorf("exchange round %d of %d B: %w", i, len(b.send), err)
		}
		if i >= warmup {
			record(t1 - t0)
		}
	}
	return b.awaitReady(warmup + iterations)
}

// follow is rank 1's side of the row.
func (b *both) follow(warmup, iterations int) error {
	for i := range warmup + iterations {
		pattern.Fill(b.send, pattern.Seed(b.row, b.pair, toRank0, i))
		if err := b.in.post(tag(b.pair, tagMessage), b.recv); err != nil {
			return fmt.Errorf("post the receives of round %d of %d B: %w", i, len(b.send), err)
		}
		if err := b.sayReady(i, nil); err != nil {
			return err
		}
		_, err := b.wire.Recv(tag(b.pair, tagGo), nil)
		if err == nil {
			err = b.out.sendAll(tag(b.pair, tagAnswer), b.send)
		}
		if err == nil {
			err = b.in.received(b.recv)
		}
		if err == nil {
			err = b.verify("message of rank 0", len(b.recv), fromRank0, i)
		}
		if errors.Is(err, errVerify) {
			return b.sayReady(i+1, err)
		}
		if err != nil {
			return fmt.Errorf("exchange round %d of %d B: %w", i, len(b.send), err)
		}
	}
	return b.sayReady(warmup+iterations, nil)
}
