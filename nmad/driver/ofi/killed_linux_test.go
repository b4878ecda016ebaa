//go:build ofi && cgo

package ofi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/drivertest"
)

// partnerVariable makes this program a partner of TestKilled: provider, rank, address.
const partnerVariable = "PM2_OFI_TEST_PARTNER"

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(partnerVariable); ok {
		if err := partner(strings.Split(text, "|")); err != nil {
			fmt.Fprintln(os.Stderr, "partner:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// trio is the configuration of a rank of three.
func trio(rank int) driver.Config {
	return driver.Config{Rank: rank, Size: 3, Job: "three", Secret: []byte("a secret of three processes")}
}

// partner exchanges long messages with rank 0 until that closes the link.
func partner(words []string) error {
	go func() { // ends with its parent, whatever happens
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	rank, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	e, err := Driver{provider: words[0]}.Open(trio(rank))
	if err != nil {
		return err
	}
	defer e.Close()
	ctx, cancel := context.WithTimeout(context.Background(), drivertest.Patience)
	defer cancel()
	l, err := e.Dial(ctx, 0, words[2])
	if err != nil {
		return err
	}
	defer l.Close()
	x := newExchange(l)
	for err == nil {
		err = x.step()
	}
	if errors.Is(err, driver.ErrPeerLost) {
		return nil
	}
	return err
}

// exchange is long messages both ways over one link, one behind the other.
type exchange struct {
	link     driver.Link
	out, in  []byte
	put, got int // bytes of the message that is under way
	rounds   int // messages that have come
}

const longMessage = 1 << 20

func newExchange(l driver.Link) *exchange {
	return &exchange{link: l, out: bytes.Repeat([]byte{7}, longMessage), in: make([]byte, longMessage)}
}

// step moves a bit of either message.
func (x *exchange) step() error {
	n, err := x.link.Push(x.out[x.put:])
	x.put = (x.put + n) % longMessage
	m, err2 := x.link.Pull(x.in[x.got:])
	if x.got += m; x.got == longMessage {
		if x.got = 0; x.in[0] != 7 || x.in[longMessage-1] != 7 {
			return errors.New("other bytes have come")
		}
		x.rounds++
		clear(x.in)
	}
	return errors.Join(err, err2)
}

// TestKilled: a process is killed in the middle of long messages both ways. The link to it ends, and gives its buffers back, within the bound; that to another process over
// the same endpoint goes on, however many messages follow.
func TestKilled(t *testing.T) {
	for _, provider := range []string{"shm", "tcp"} {
		for round := range 2 {
			t.Run(fmt.Sprintf("%s %d", provider, round), func(t *testing.T) { killOne(t, provider, time.Duration(round*7)*time.Millisecond) })
		}
	}
}

// three are this process, rank 0, and two others, each of which exchanges long messages with it.
type three struct {
	end       driver.Endpoint
	processes [3]*exec.Cmd
	links     [3]*exchange
}

// startThree returns once messages have come from both, and goes on with them for a while.
func startThree(t *testing.T, provider string, while time.Duration) *three {
	e, err := Driver{provider: provider}.Open(trio(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	h := &three{end: e}
	ctx, cancel := context.WithTimeout(context.Background(), drivertest.Patience)
	defer cancel()
	for rank := 1; rank < 3; rank++ {
		c := exec.Command("/proc/self/exe")
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d|%s", partnerVariable, provider, rank, e.Addr()))
		c.Stderr = os.Stderr
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _, _ = in.Close(), c.Process.Kill(), c.Wait() })
		h.processes[rank] = c
	}
	for range 2 {
		rank, l, err := e.Accept(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		h.links[rank] = newExchange(l)
	}
	late := time.Now().Add(drivertest.Patience)
	for end := time.Now().Add(while); h.links[1].rounds == 0 || h.links[2].rounds == 0 || time.Now().Before(end); {
		if err := errors.Join(h.links[1].step(), h.links[2].step()); err != nil || time.Now().After(late) {
			t.Fatalf("not begun: %v, %v, %v", err, h.links[1].link, h.links[2].link)
		}
	}
	return h
}

// goOn exchanges more messages with the other process.
func (h *three) goOn(t *testing.T) {
	const more = 10
	other, late := h.links[2], time.Now().Add(drivertest.Patience)
	for until := other.rounds + more; other.rounds < until; {
		if err := other.step(); err != nil || time.Now().After(late) {
			t.Fatalf("the other link after %d messages: %v; %v", other.rounds, err, other.link)
		}
	}
}

func killOne(t *testing.T, provider string, after time.Duration) {
	h := startThree(t, provider, after)
	lost, other := h.links[1], h.links[2]
	killed := time.Now()
	if err := h.processes[1].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = h.processes[1].Wait()
	var err error
	for err == nil {
		if err = other.step(); err != nil {
			t.Fatal("the other link:", err)
		}
		if err = lost.step(); time.Since(killed) > drivertest.Notice {
			t.Fatalf("not noticed %v after the end of the process: %v; %v", time.Since(killed), err, lost.link)
		}
	}
	if !errors.Is(err, driver.ErrPeerLost) {
		t.Fatal(err)
	}
	for push, pull := false, false; !push || !pull; {
		_, push = lost.link.ReturnPush()
		_, pull = lost.link.ReturnPull(false)
		if time.Since(killed) > drivertest.Notice {
			t.Fatalf("the buffers are not given back %v after the end of the process: push %v, pull %v; %v", time.Since(killed), push, pull, lost.link)
		}
	}
	noticed := time.Since(killed)
	h.goOn(t)
	t.Logf("over after %v", noticed)
}

// TestGivenUp: a process is stopped in the middle of long messages and given up. What its provider still sends, once it goes on, does not come into the buffers
// that were given back, and the endpoint leaves no descriptor open.
func TestGivenUp(t *testing.T) {
	for _, provider := range []string{"shm", "tcp"} {
		for round := range 3 {
			before := descriptors()
			t.Run(fmt.Sprintf("%s %d", provider, round), func(t *testing.T) { stopOne(t, provider, time.Duration(round*7)*time.Millisecond) })
			for end := time.Now().Add(drivertest.Notice); descriptors() > before; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d descriptors are open, %d were", descriptors(), before)
				}
			}
		}
	}
}

// descriptors is how many this process has.
func descriptors() int {
	all, _ := os.ReadDir("/proc/self/fd")
	return len(all)
}

func stopOne(t *testing.T, provider string, after time.Duration) {
	h := startThree(t, provider, after)
	lost := h.links[1]
	if err := h.processes[1].Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
		if err := errors.Join(lost.step(), h.links[2].step()); err != nil {
			t.Fatal(err)
		}
	}
	state := lost.link.(*link).in.state.Load()
	for push, pull, end := false, false, time.Now().Add(drivertest.Notice); !push || !pull; {
		_, push = lost.link.ReturnPush()
		_, pull = lost.link.ReturnPull(true)
		if time.Now().After(end) {
			t.Fatalf("the buffers are not given back: push %v, pull %v; %v", push, pull, lost.link)
		}
	}
	if err := lost.link.Close(); err != nil {
		t.Error(err)
	}
	given := bytes.Repeat([]byte{0xa5}, longMessage)
	copy(lost.in, given)
	if err := h.processes[1].Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	h.goOn(t)
	if err := h.processes[1].Wait(); err != nil {
		t.Error("the one that was stopped:", err)
	}
	h.goOn(t)
	if !bytes.Equal(lost.in, given) {
		t.Error("a buffer that was given back has changed")
	}
	t.Logf("it was stopped while a read was %s", stateNames[state])
}
