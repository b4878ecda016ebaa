package shm

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
)

// keeperVariable makes TestKeeper the other process of TestEvict; it has the address to dial.
const keeperVariable = "PM2_TEST_SHM_KEEPER"

// TestKeeper is a peer that takes a piece of its offer, to write it, and is stopped just before it does.
func TestKeeper(t *testing.T) {
	address := os.Getenv(keeperVariable)
	if address == "" {
		t.Skip("it is the other process of TestEvict")
	}
	ep, err := Driver{}.Open(config(1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	dialed, err := ep.Dial(ctx, 0, address)
	if err != nil {
		t.Fatal(err)
	}
	l := dialed.(*link)
	if ok, err := l.largeTx.makeOffer(make([]byte, 1<<20)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	runtime.LockOSThread()
	for ctx.Err() == nil {
		if _, ok, err := l.largeTx.claim(); err != nil {
			t.Fatal(err)
		} else if ok {
			// A signal to the process may reach another OS thread first, and this one would go on meanwhile.
			_ = unix.Tgkill(os.Getpid(), unix.Gettid(), syscall.SIGSTOP)
			t.Fatal("continued")
		}
	}
	t.Fatal("no share came")
}

// kept gives a link whose peer has taken a piece of the buffer in, and is stopped.
func kept(t *testing.T, in []byte) (l *link, peer *exec.Cmd) {
	t.Helper()
	if ourselves() == 0 {
		t.Skip("this kernel lets no process read another one's memory")
	}
	t.Setenv(EnvCopy, "single")
	ep, _ := listening(t)
	peer = exec.Command(os.Args[0], "-test.run=^TestKeeper$")
	peer.Env = append(os.Environ(), keeperVariable+"="+ep.Addr())
	var output strings.Builder
	peer.Stdout, peer.Stderr = &output, &output
	if err := peer.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = peer.Process.Kill(); _ = peer.Wait() })
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, accepted, err := ep.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = accepted.Close() })
	l = accepted.(*link)
	if !l.largeRx.senderHelps {
		t.Skip("this kernel lets the process not end the other one, so that one is not asked to help")
	}
	// Begin a share and take nothing of it, so that a piece is left for the sender.
	for !l.largeRx.ready() {
		if ctx.Err() != nil {
			t.Fatal("no offer came: ", output.String())
		}
		time.Sleep(time.Millisecond)
	}
	if err := l.largeRx.acceptOffer(); err != nil {
		t.Fatal(err)
	}
	l.largeRx.startShare(in, l.largeRx.pieceOf(len(in)))
	for !stopped(t, peer.Process.Pid) {
		if ctx.Err() != nil {
			t.Fatal("the peer is not stopped: ", output.String())
		}
		time.Sleep(time.Millisecond)
	}
	return l, peer
}

// stopped tells whether the process is stopped by a signal.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	var info struct{ status syscall.WaitStatus }
	got, err := syscall.Wait4(pid, &info.status, syscall.WUNTRACED|syscall.WNOHANG, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got == pid && !info.status.Stopped() {
		t.Fatalf("the peer has ended: %v", info.status)
	}
	return got == pid
}

// killed waits until the peer has ended, and expects SIGKILL to have ended it.
func killed(t *testing.T, peer *exec.Cmd) {
	t.Helper()
	err := peer.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the peer ended with %v, want SIGKILL", err)
	}
}

// TestEvict: a peer that is stopped with a piece of our buffer to write keeps the buffer, until it is given up;
// then its process is ended, and the buffer is ours.
func TestEvict(t *testing.T) {
	l, peer := kept(t, make([]byte, 1<<20))
	for range 20 {
		if _, ok := l.ReturnPull(false); ok {
			t.Fatal("the buffer was given back while the peer can still write into it")
		}
		time.Sleep(time.Millisecond)
	}
	began := time.Now()
	for ok := false; !ok; time.Sleep(time.Millisecond) {
		if _, ok = l.ReturnPull(true); !ok && time.Since(began) > 20*time.Second {
			t.Fatal("the buffer of a peer that is given up does not come back")
		}
	}
	killed(t, peer)
	if _, err := l.Pull(make([]byte, 1)); err != nil && !errors.Is(err, driver.ErrPeerLost) {
		t.Errorf("the link of a peer that was evicted says: %v", err)
	}
}

// TestCloseEvicts: Close gives the peer up after a while by itself.
func TestCloseEvicts(t *testing.T) {
	l, peer := kept(t, make([]byte, 1<<20))
	began := time.Now()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < closeTimeout {
		t.Errorf("closed after %v, while the peer could still write", took)
	}
	killed(t, peer)
}

// TestUnhelped: a share of a peer that cannot be evicted offers it no piece.
func TestUnhelped(t *testing.T) {
	_, a, b := offering(t)
	b.largeRx.senderHelps = false
	out, in := message(3000)
	moved(t, "push", a.Push, out, 0)
	begin(t, b, in)
	if _, ok, err := a.largeTx.claim(); ok || err != nil {
		t.Fatalf("the sender took a piece: %v, %v", ok, err)
	}
	for got := 0; got < len(in); {
		n, err := b.Pull(in[got:])
		if n == 0 || err != nil {
			t.Fatalf("%d bytes, then %d, %v", got, n, err)
		}
		got += n
	}
	equal(t, out, in)
	if _, ok := b.ReturnPull(false); !ok {
		t.Error("not returned, though the sender had nothing to write")
	}
}
