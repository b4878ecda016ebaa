package nmad

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
)

// TestWriteWaits: the list names what each waiter waits for, whatever it calls and however it waits; and what has come
// without a receive.
func TestWriteWaits(t *testing.T) {
	for name, d := range networks() {
		t.Run(name, func(t *testing.T) { writeWaits(t, d) })
	}
}

func writeWaits(t *testing.T, d driver.Driver) {
	j := newJob(t, 2, d, nil)
	defer j.moving()()
	zero, one := j.sessions[0], j.sessions[1].Gate(0)
	msgContext, err := zero.OpenContext(7, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	named, err := zero.OpenContext(8, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	named.Describe(func(tag, mask uint64) string { return fmt.Sprintf("<%d %x>", tag, mask) })
	g, buf := zero.Gate(1), make([]byte, 8)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	waits := []struct {
		f    func()
		want string
	}{
		{func() { g.Recv(5, buf) }, "waits [0-9.]+m?s: receive from rank 1, tag 5"},
		{func() { g.Irecv(1<<40, make([]byte, 8)).Wait() }, "receive from rank 1, tag 0x10000000000"},
		{func() { g.Send(6, make([]byte, 1<<20)) }, "send of 1048576 bytes to rank 1, tag 6"},
		{func() { zero.Recv(Match{Tag: 0xa00, Mask: 0xf00}, make([]byte, 8)) }, "receive from any rank, tag 0xa00 under the mask 0xf00"},
		{func() { g.Probe(ctx, Tag(9)) }, "probe for a message from rank 1, tag 9"},
		{func() { zero.Probe(ctx, Match{Tag: 10, Mask: exact}) }, "probe for a message from any rank, tag 10"},
		{func() {
			g.Start(&Operation{Kind: KindRecv, Match: Match{Context: msgContext}, Buf: make([]byte, 8)}).Wait()
		}, "receive from rank 1, any tag of context 7"},
		{func() { named.Recv(1, 11, make([]byte, 8)) }, "receive from rank 1, <11 ffffffffffffffff>"},
		{func() { WaitAny(ctx, g.Irecv(12, make([]byte, 8)), g.Irecv(13, make([]byte, 8))) }, "receive from rank 1, tag 13"},
	}
	ended := make(chan int, 2*len(waits))
	for i, w := range waits {
		go func() { w.f(); ended <- i }()
		marcel.SpawnWith(marcel.Attr{Name: fmt.Sprintf("waiter %d", i)}, func() { w.f(); ended <- i })
	}
	if err := one.Send(99, buf); err != nil {
		t.Error(err)
	}
	var text strings.Builder
	missing := func() (all []string) {
		text.Reset()
		if err := WriteWaits(&text); err != nil {
			t.Error(err)
		}
		for i, w := range waits {
			for _, line := range []string{"goroutine +.*" + w.want, fmt.Sprintf("thread [0-9]+ %q +.*", fmt.Sprintf("waiter %d", i)) + w.want} {
				if !regexp.MustCompile("(?m)^  " + line + "$").MatchString(text.String()) {
					all = append(all, line)
				}
			}
		}
		if !strings.Contains(text.String(), "came from rank 1, and no receive is for it: tag 99, 8 bytes\n") {
			all = append(all, "message with tag 99")
		}
		return all
	}
	for began := time.Now(); len(missing()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Errorf("missing: %q\nin\n%s", missing(), text.String())
			break
		}
	}
	stop()
	each(2, func(rank int) { j.sessions[rank].Close() })
	for range 2 * len(waits) {
		<-ended
	}
	for _, e := range j.engines {
		e.Close()
	}
	text.Reset()
	if WriteWaits(&text); strings.Contains(text.String(), "waits ") {
		t.Errorf("after the end:\n%s", text.String())
	}
}

// TestNoReason: waiting with a reason allocates nothing.
func TestNoReason(t *testing.T) {
	r := &Request{}
	r.prepare(&Gate{}, 0, nil, 1, nil, 0)
	if n := testing.AllocsPerRun(100, func() { _ = r.reason() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
