package shm

import (
	"bytes"
	"errors"
	"math"
	"os"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
)

// noProcess is the number of no process: Linux has none so high.
const noProcess = math.MaxInt32

// offering gives two linked sides that offer all messages from 100 bytes on.
func offering(t testing.TB) (mem []byte, a, b *link) {
	t.Helper()
	if ourselves() == 0 {
		t.Skip("this kernel lets no process read another one's memory")
	}
	mem = heapSegment(tiny)
	a, b, err := heapLinks(mem, tiny)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	for _, l := range []*link{a, b} {
		l.setPeer(os.Getpid(), longPaths{policy: copySingle, minOffer: 100})
	}
	return mem, a, b
}

// moved expects a call to have moved that many bytes.
func moved(t *testing.T, what string, call func([]byte) (int, error), buf []byte, want int) {
	t.Helper()
	if n, err := call(buf); n != want || err != nil {
		t.Fatalf("%s: %d, %v; should be %d", what, n, err, want)
	}
}

// message gives n bytes to send and as many to receive them in.
func message(n int) (out, in []byte) {
	out, in = make([]byte, n), make([]byte, n)
	fillWith(out, n)
	return out, in
}

func equal(t *testing.T, out, in []byte) {
	t.Helper()
	if !bytes.Equal(out, in) {
		t.Fatal("what arrives is not what was sent")
	}
}

// through says that a and b still understand each other.
func through(t *testing.T, a, b *link) {
	t.Helper()
	out, in := message(1000)
	for sent, got := 0, 0; sent < len(out) || got < len(in); {
		n, err := a.Push(out[sent:])
		if err != nil {
			t.Fatal(err)
		}
		sent += n
		if n, err = b.Pull(in[got:]); err != nil {
			t.Fatal(err)
		}
		got += n
	}
	equal(t, out, in)
}

// begin has the receiver begin a share of the offer that is out, and leave it as it is.
func begin(t *testing.T, l *link, in []byte) {
	t.Helper()
	if err := l.largeRx.acceptOffer(); err != nil {
		t.Fatal(err)
	}
	l.largeRx.startShare(in, l.largeRx.pieceOf(len(in)))
}

// claim has the sender take a piece of it.
func claim(t *testing.T, l *link) claimedPiece {
	t.Helper()
	p, ok, err := l.largeTx.claim()
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	return p
}

// TestOffer: the receiver fetches all by itself from a sender that does nothing, in buffers
// of its own lengths, and nothing goes through slots.
func TestOffer(t *testing.T) {
	for name, most := range map[string]int{"one buffer": 5000, "several buffers": 700, "a longer buffer": 9000} {
		t.Run(name, func(t *testing.T) {
			mem, a, b := offering(t)
			out, in := message(5000)
			moved(t, "push", a.Push, out, 0)
			for got := 0; got < len(in); {
				buf := make([]byte, most)
				n, err := b.Pull(buf)
				if err != nil || n == 0 {
					t.Fatal(n, err)
				}
				if got += copy(in[got:], buf[:n]); n < min(most, 5000) {
					// So many pieces that it takes several calls: the rest must not go elsewhere.
					for k := n; k < most && got < len(in); k += n {
						if n, err = b.Pull(buf[k:]); err != nil || n == 0 {
							t.Fatal(n, err)
						}
						got += copy(in[got:], buf[k:k+n])
					}
				}
			}
			equal(t, out, in)
			slots := tiny.direction(0).slots
			if s := mem[slots : slots+uint64(tiny.slots*tiny.slotSize)]; !bytes.Equal(s, make([]byte, len(s))) {
				t.Error("bytes of it went through slots")
			}
			moved(t, "push", a.Push, out, len(out))
			through(t, a, b)
			through(t, b, a)
		})
	}
}

// TestOfferShared: sender and receiver fetch pieces in turn, and the receiver waits for those
// that the sender has begun with.
func TestOfferShared(t *testing.T) {
	_, a, b := offering(t)
	out, in := message(3000)
	moved(t, "push", a.Push, out, 0)
	begin(t, b, in)
	p := claim(t, a)
	first := b.largeRx.current.back - 1
	n, err := b.Pull(in)
	if want := first * b.largeRx.current.piece; n != want || err != nil {
		t.Fatalf("%d, %v; %d bytes are before the sender's piece", n, err, want)
	}
	moved(t, "pull while the sender is at work", b.Pull, in[n:], 0)
	if !b.Arm(false) {
		t.Fatal("cannot sleep, though the sender is at work, and not the receiver")
	}
	if _, errno := a.writer.Write(p.bytes, p.to); errno != 0 {
		t.Fatal(errno)
	}
	a.largeTx.publishWritten(p, true)
	if b.Disarm(); b.Arm(false) {
		t.Fatal("sleeps, though the sender is done")
	}
	moved(t, "pull", b.Pull, in[n:], len(in)-n)
	equal(t, out, in)
	moved(t, "push", a.Push, out, len(out))
	through(t, a, b)
}

// TestOfferUnwritable: the sender finds that it cannot write; the receiver does it all.
func TestOfferUnwritable(t *testing.T) {
	_, a, b := offering(t)
	a.writer.PID = noProcess
	out, in := message(3000)
	moved(t, "push", a.Push, out, 0)
	begin(t, b, in)
	moved(t, "push in vain", a.Push, out, 0)
	if a.writer.PID != 0 {
		t.Error("it will try again")
	}
	moved(t, "pull", b.Pull, in, len(in))
	equal(t, out, in)
	moved(t, "push", a.Push, out, len(out))
	through(t, a, b)
}

// TestOfferDeclined: what cannot be read goes through slots, from where the receiver got to, and
// nothing is offered any more.
func TestOfferDeclined(t *testing.T) {
	for name, hidden := range map[string]int{"from the first byte": 0, "from the middle": 2 * pageSize} {
		t.Run(name, func(t *testing.T) {
			mem, a, b := offering(t)
			out, in := visible(t, 4*pageSize, hidden)
			moved(t, "push", a.Push, out, 0)
			got, sent, slots := 0, 0, false
			for got < len(in) || sent < len(out) {
				n, err := b.Pull(in[got:])
				if err != nil {
					t.Fatal(err)
				}
				got += n
				if declined := b.largeRx.waitsFor == waitsSlot; declined && !slots {
					slots = true
					if got > hidden {
						t.Errorf("%d bytes were fetched, %d can be read", got, hidden)
					}
					if !b.Arm(false) {
						t.Error("cannot sleep, though it is the sender's turn")
					}
					b.Disarm()
					show(t, out) // the sender itself can read them, of course
				}
				if n, err = a.Push(out[sent:]); err != nil {
					t.Fatal(err)
				}
				sent += n
			}
			if !slots {
				t.Error("it was never declined")
			}
			equal(t, out, in)
			through(t, a, b)
			if w := uint64(tiny.direction(0).words); mem[w] == 0xFF && mem[w+1] == 0xFF {
				t.Error("there was another offer")
			}
		})
	}
}

// visible maps n bytes with a pattern, which cannot be read from hidden on.
func visible(t *testing.T, n, hidden int) (out, in []byte) {
	t.Helper()
	out, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(out) })
	fillWith(out, 3)
	if err := unix.Mprotect(out[hidden:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return out, make([]byte, n)
}

func show(t *testing.T, b []byte) {
	t.Helper()
	if err := unix.Mprotect(b, unix.PROT_READ); err != nil {
		t.Fatal(err)
	}
}

// TestOfferShortBuffers: a receiver whose buffers are short has the rest come through slots,
// and the sender offers no more of that length unless it must.
func TestOfferShortBuffers(t *testing.T) {
	_, a, b := offering(t)
	b.setPeer(os.Getpid(), longPaths{policy: copyAuto, minOffer: 100})
	b.largeRx.slotCredit.offers.Store(1<<64 - 1)
	b.largeRx.copies.offers = 1<<64 - 1
	out, in := message(3000)
	for sent, got := 0, 0; sent < len(out) || got < len(in); {
		n, err := a.Push(out[sent:])
		if err != nil {
			t.Fatal(err)
		}
		sent += n
		if n, err = b.Pull(in[got:min(got+7, len(in))]); err != nil {
			t.Fatal(err)
		}
		got += n
	}
	equal(t, out, in)
	if a.largeTx.offers(len(out)) {
		t.Error("it would be offered again")
	}
	through(t, a, b)
}

// TestReturnPush: an offer that is taken back is not fetched any more, and it is certain how
// much of it was.
func TestReturnPush(t *testing.T) {
	_, a, b := offering(t)
	out, in := message(3000)
	moved(t, "push", a.Push, out, 0)
	moved(t, "pull", b.Pull, in[:1000], 1000)
	if n, ok := a.ReturnPush(); n != 1000 || !ok {
		t.Errorf("%d, %v; 1000 bytes were fetched", n, ok)
	}
	clear(out)
	for range 3 {
		moved(t, "pull of what was taken back", b.Pull, in[1000:], 0)
	}
	if !b.Arm(false) {
		t.Error("cannot sleep, though nothing will come")
	}
	b.Disarm()
	if n, ok := a.ReturnPush(); n != 0 || !ok {
		t.Errorf("a second time: %d, %v", n, ok)
	}
}

// TestReturnPull: a buffer comes back when the sender does not write into it any more.
func TestReturnPull(t *testing.T) {
	for _, how := range []string{"written", "closed"} {
		t.Run(how, func(t *testing.T) {
			_, a, b := offering(t)
			if n, ok := b.ReturnPull(false); n != 0 || !ok {
				t.Errorf("without a share: %d, %v", n, ok)
			}
			out, in := message(3000)
			moved(t, "push", a.Push, out, 0)
			begin(t, b, in)
			p := claim(t, a)
			if _, ok := b.ReturnPull(false); ok {
				t.Fatal("returned while the sender is writing")
			}
			if _, ok, _ := a.largeTx.claim(); ok {
				t.Error("the sender can take another piece")
			}
			if how == "closed" {
				_ = a.Close()
			} else {
				a.largeTx.publishWritten(p, true)
			}
			if _, ok := b.ReturnPull(false); !ok {
				t.Error("not returned, though the sender is done")
			}
		})
	}
}

// TestCloseAwaitsPieces: Close waits for a sender that is just writing.
func TestCloseAwaitsPieces(t *testing.T) {
	_, a, b := offering(t)
	out, in := message(3000)
	moved(t, "push", a.Push, out, 0)
	begin(t, b, in)
	p := claim(t, a)
	closing := make(chan error)
	go func() { closing <- b.Close() }()
	select {
	case <-closing:
		t.Error("closed while the sender is writing")
	case <-time.After(10 * time.Millisecond):
	}
	a.largeTx.publishWritten(p, true)
	if err := <-closing; err != nil {
		t.Error(err)
	}
}

// TestOfferViolations names each lie about offers and expects it to be caught.
func TestOfferViolations(t *testing.T) {
	in, out := tiny.direction(1), tiny.direction(0)
	offer := func(t *testing.T, a, b *link, n int) []byte {
		t.Helper()
		buf := make([]byte, n)
		moved(t, "push", a.Push, buf, 0)
		return buf
	}
	field := func(mem []byte, at uint64, n int) *uint64 {
		return (*uint64)(unsafe.Pointer(&mem[at+8*uint64(n)]))
	}
	for _, c := range []struct {
		name string
		lie  func(t *testing.T, mem []byte, a, b *link) error
	}{
		{"an offer of nothing", func(t *testing.T, mem []byte, a, b *link) error {
			offer(t, b, a, 200)
			*field(mem, in.words, 2) = 0
			_, err := a.Pull(make([]byte, 10))
			return err
		}},
		{"an endless offer", func(t *testing.T, mem []byte, a, b *link) error {
			offer(t, b, a, 200)
			*field(mem, in.words, 2) = 1 << 63
			_, err := a.Pull(make([]byte, 10))
			return err
		}},
		{"an offer that was not asked for", func(t *testing.T, mem []byte, a, b *link) error {
			offer(t, b, a, 200)
			a.largeRx.copies.canRead = false
			_, err := a.Pull(make([]byte, 10))
			return err
		}},
		{"more fetched than offered", func(t *testing.T, mem []byte, a, b *link) error {
			buf := offer(t, a, b, 200)
			*field(mem, out.slotCredit, 2) = 201
			_, err := a.Push(buf)
			return err
		}},
		{"less fetched than before", func(t *testing.T, mem []byte, a, b *link) error {
			buf := offer(t, a, b, 200)
			*field(mem, out.slotCredit, 2) = 100
			moved(t, "push", a.Push, buf, 100)
			*field(mem, out.slotCredit, 2) = 99
			_, err := a.Push(buf[100:])
			return err
		}},
		{"fetched between offers", func(t *testing.T, mem []byte, a, b *link) error {
			*field(mem, out.slotCredit, 2) = 1
			_, err := a.Push(make([]byte, 200))
			return err
		}},
		{"a share beyond the offer", func(t *testing.T, mem []byte, a, b *link) error {
			buf := offer(t, a, b, 200)
			*field(mem, out.share, 2), *field(mem, out.share, 3), *field(mem, out.share, 4) = 100, 101, 101
			*field(mem, out.share, 0) = uint64(newClaims(1, 1))
			_, err := a.Push(buf)
			return err
		}},
		{"a piece beyond the share", func(t *testing.T, mem []byte, a, b *link) error {
			buf := offer(t, a, b, 200)
			*field(mem, out.share, 2), *field(mem, out.share, 3), *field(mem, out.share, 4) = 0, 200, 100
			*field(mem, out.share, 0) = uint64(newClaims(1, 3))
			_, err := a.Push(buf)
			return err
		}},
		{"pieces of nothing", func(t *testing.T, mem []byte, a, b *link) error {
			buf := offer(t, a, b, 200)
			*field(mem, out.share, 3), *field(mem, out.share, 4) = 200, 0
			*field(mem, out.share, 0) = uint64(newClaims(1, 3))
			_, err := a.Push(buf)
			return err
		}},
		{"claims of another share", func(t *testing.T, mem []byte, a, b *link) error {
			offer(t, b, a, 2000)
			moved(t, "pull", a.Pull, make([]byte, 1000), 1000)
			a.largeRx.startShare(make([]byte, 1000), 100)
			*field(mem, in.share, 0) = uint64(newClaims(7, 10))
			_, err := a.Pull(make([]byte, 1000))
			return err
		}},
		{"more pieces written than taken", func(t *testing.T, mem []byte, a, b *link) error {
			offer(t, b, a, 2000)
			if err := a.largeRx.acceptOffer(); err != nil {
				t.Fatal(err)
			}
			a.largeRx.startShare(make([]byte, 2000), 500)
			if _, ok, err := b.largeTx.claim(); !ok || err != nil {
				t.Fatal(ok, err)
			}
			*field(mem, in.words, 3) = uint64(newWritten(a.largeRx.current.number, 2, false))
			_, err := a.Pull(make([]byte, 2000))
			return err
		}},
		{"fetched changed", func(t *testing.T, mem []byte, a, b *link) error {
			offer(t, b, a, 200)
			*field(mem, in.slotCredit, 2) = 5
			_, err := a.Pull(make([]byte, 200))
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem, a, b := offering(t)
			err := c.lie(t, mem, a, b)
			if !errors.Is(err, driver.ErrProtocol) {
				t.Fatalf("the lie went through: %v", err)
			}
			t.Log(err)
			if _, ok := a.ReturnPull(true); !ok {
				t.Error("a buffer is kept for a liar that is given up")
			}
		})
	}
}

// TestClaims: both take what is left, until they meet.
func TestClaims(t *testing.T) {
	c := newClaims(9, 5)
	if c = c.takeFront().takeBack().takeBack(); c.share() != 9 || c.front() != 1 || c.back() != 3 || c.left() != 2 {
		t.Errorf("%#x", c)
	}
	if c = c.takeAll(); c.share() != 9 || c.front() != 3 || c.left() != 0 {
		t.Errorf("%#x", c)
	}
	for _, w := range []struct {
		w      written
		pieces int
		want   bool
	}{
		{newWritten(9, 2, false), 2, true}, {newWritten(9, 1, false), 2, false}, {newWritten(9, 1, true), 2, true},
		{newWritten(8, 2, false), 2, false}, {0, 0, true},
	} {
		if got := w.w.covers(9, w.pieces); got != w.want {
			t.Errorf("%#x covers %d pieces: %v", w.w, w.pieces, got)
		}
	}
}

// TestEvidence: only a process that has the nonce is believed to be the peer.
func TestEvidence(t *testing.T) {
	if ourselves() == 0 {
		t.Skip("this kernel lets no process read another one's memory")
	}
	n := newNonce()
	var e evidence
	e.decode(n.evidence())
	if got := e.heldBy(os.Getpid()); got != os.Getpid() {
		t.Errorf("our own nonce is held by %d", got)
	}
	for name, pid := range map[string]int{"no process": 0, "a process out of sight": -1, "a number of no process": noProcess} {
		if got := e.heldBy(pid); got != 0 {
			t.Errorf("%s: held by %d", name, got)
		}
	}
	e.address ^= 1 << 46
	if got := e.heldBy(os.Getpid()); got != 0 {
		t.Error("there is no nonce there")
	}
	if e.decode(n.evidence()); e.nonce[3] != n[3] {
		t.Fatal("decoded wrong")
	}
	e.nonce[3]++
	if got := e.heldBy(os.Getpid()); got != 0 {
		t.Error("that is another nonce")
	}
}
