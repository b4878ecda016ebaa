package nmad

import (
	"bytes"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/simnet"
)

// TestArrivalsBesideWantOfRoom: a gate whose sleeper sleeps, and which is about to wait for
// room in its place, has bytes to take in that no poll has got to: many short parts. It
// takes them in; else neither these bytes nor, as the peer may be waiting just so, the room
// would ever come.
func TestArrivalsBesideWantOfRoom(t *testing.T) {
	const arrives, leaves = 2 * rounds * partsAtOnce, 5 * rounds * partsAtOnce
	j := newJob(t, 2, &simnet.Net{Options: simnet.Options{MaxBody: 256, Packets: 16, Large: arrives}}, nil)
	zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	start := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var a, b, x, y Request
	there, back := pattern(arrives, 1), pattern(leaves, 2)
	got, gotBack := make([]byte, arrives), make([]byte, leaves)
	parts := make([][]byte, arrives)
	for i := range parts {
		parts[i] = got[i : i+1]
	}
	start(one.StartSend(&a, &SendOp{Tag: 1, Buf: there}))
	start(zero.StartRecv(&x, &RecvOp{Match: Tag(1), Parts: parts}))
	zero.poll() // asks for the bytes
	sleeper := source{&zero.rails[0]}
	if !sleeper.Arm() {
		t.Fatal("nothing has arrived, and the gate cannot be armed")
	}
	start(zero.StartSend(&b, &SendOp{Tag: 2, Buf: back}))
	start(one.StartRecv(&y, &RecvOp{Match: Tag(2), Buf: gotBack}))
	one.poll() // sends all, and asks for what fits only in parts
	polled := make(chan struct{})
	go func() {
		defer close(polled)
		zero.poll()
	}()
	select {
	case <-polled:
	case <-time.After(20 * time.Second):
		t.Fatal("the gate waits for room, and does not take in what has arrived")
	}
	sleeper.Disarm()
	for _, r := range []*Request{&a, &b, &x, &y} {
		for over := false; !over; {
			zero.poll()
			one.poll()
			var err error
			if over, err = r.Test(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !bytes.Equal(got, there) || !bytes.Equal(gotBack, back) {
		t.Error("bytes are damaged")
	}
	j.close()
}
