package shm

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
)

// TestString: a link that sleeps on something tells so, and what has become of its descriptors.
func TestString(t *testing.T) {
	a, b := linked(t, Driver{geo: &tiny})
	says := func(what string, l *link, parts ...string) {
		t.Helper()
		text := l.String()
		for _, p := range parts {
			if !strings.Contains(text, p) {
				t.Errorf("%s: %q is missing in\n%s", what, p, text)
			}
		}
	}
	if !a.Arm(false) {
		t.Fatal("there is something")
	}
	says("asleep", a, "link to rank 0, state well", "this side: sleeping 1, wantRoom 0; the other: sleeping 0",
		"large in: 0 slots received, 0 of them released; the next is there: false", "eventfd-count: 0", "anon_inode:[eventfd]", "anon_inode:[eventpoll]", "socket:[")
	says("the peer of one asleep", b, "this side: sleeping 0, wantRoom 0; the other: sleeping 1")

	// What a lost wake leaves behind.
	if n, err := b.largeTx.push([]byte{1}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	says("asleep on a slot", a, "sleeping 1", "the next is there: true", "eventfd-count: 0")
	says("the side that did not ring", b, "1 slots sent, 0 of them released", "0 by Push")

	// And what one looks like for which the bell was rung.
	if ok, err := b.Send(&driver.Header{}, nil, nil, false); !ok || err != nil {
		t.Fatal(ok, err)
	}
	says("rings for", a, "sleeping 0", "packets in: 0 received, 0 of them released; the next is there: true", "eventfd-count: 1", fmt.Sprintf("tfd: %d", a.bell))
	says("the side that rang", b, "1 by Send", "packets out: 1 sent", "eventfd-count: 1")
	a.Disarm()

	for {
		if ok, err := b.Send(&driver.Header{}, nil, nil, false); err != nil {
			t.Fatal(err)
		} else if !ok {
			break
		}
	}
	says("refused", b, "refused until 1 and", "still so: true")

	// One closed a number that was not its, and another one got it.
	pipe := make([]int, 2)
	if err := unix.Pipe2(pipe, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	if err := unix.Dup3(pipe[0], a.bell, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	says("a stranger's descriptor", a, fmt.Sprintf("doorbell %d: pipe:[", a.bell))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	says("closed", a, "state closed")
}
