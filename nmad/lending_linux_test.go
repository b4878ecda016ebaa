package nmad

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"golang.org/x/sys/unix"
)

// loanable makes memory such as a peer lends.
func loanable(t *testing.T, bytes uint64) *mapped.Memory {
	t.Helper()
	m, err := mapped.Make("test", bytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Vacate() })
	return m
}

// at is the body of a first LOAN.
func at(locator mapped.Locator, place uint64) []byte {
	b := newWhere(locator, int(place))
	return b[:]
}

// TestHostileLoans: memory, or a place in it, that makes no sense ends the gate with ErrProtocol, and nothing is read
// there.
func TestHostileLoans(t *testing.T) {
	named := func(fd int) mapped.Locator {
		t.Cleanup(func() { unix.Close(fd) })
		size, file, _ := mapped.Check(fd, "test")
		return mapped.Locator{PID: uint32(os.Getpid()), FD: uint32(fd), File: file, Size: size}
	}
	file := func() mapped.Locator {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err == nil {
			err = f.Truncate(8192)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fd, err := unix.Dup(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		return named(fd)
	}
	memory := func(bytes int64, seals int) mapped.Locator {
		fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Ftruncate(fd, bytes); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
			t.Fatal(err)
		}
		return named(fd)
	}
	const sealed = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW
	pipe := func() mapped.Locator {
		var ends [2]int
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(ends[1]) })
		locator := named(ends[0])
		locator.Size = 8192
		return locator
	}
	good := loanable(t, 8192).Locator()
	longer := good
	longer.Size += pageBytes
	for what, c := range map[string]struct {
		size uint64
		body []byte
	}{
		"a file":            {100, at(file(), 0)},
		"a pipe":            {100, at(pipe(), 0)},
		"may shrink":        {100, at(memory(8192, 0), 0)},
		"may grow":          {100, at(memory(8192, unix.F_SEAL_SHRINK), 0)},
		"empty memory":      {100, at(memory(0, sealed), 0)},
		"half a page":       {100, at(memory(2048, sealed), 0)},
		"too much":          {100, at(memory(maxLoanBytes+pageBytes, sealed), 0)},
		"not as long":       {100, at(longer, 0)},
		"a byte too far":    {100, at(good, 8192-99)},
		"behind the end":    {1, at(good, 8192)},
		"wraps around":      {100, at(good, 1<<64-50)},
		"longer than it":    {8193, at(good, 0)},
		"as long as can be": {1 << 62, at(good, 0)},
		"empty":             {0, at(good, 0)},
		"short description": {100, at(good, 0)[:flow.LoanLocator+flow.LoanBody-1]},
		"long description":  {100, append(at(good, 0), 0)},
	} {
		p, g := hostile()
		r := g.Start(&Operation{Kind: KindRecv, Match: Tag(1), Buf: nil, Loan: true})
		p.links[0].Inject(driver.Header{Kind: flow.KindLoan, Context: flow.DefaultContext, Body: uint32(len(c.body)), Tag: 1, Size: c.size}, c.body)
		g.poll()
		if g.locked.endErr == nil || !errors.Is(g.locked.endErr, ErrProtocol) {
			t.Errorf("%s: %v", what, g.locked.endErr)
			continue
		}
		mustDone(t, r, ErrProtocol)
		if g.locked.view != nil {
			t.Errorf("%s: memory stays mapped", what)
		}
	}
}

// TestCardOnce: the first LOAN, and no other, says in which memory messages lie.
func TestCardOnce(t *testing.T) {
	whole := at(loanable(t, 8192).Locator(), 0)
	for what, c := range map[string]struct{ first, second []byte }{
		"a second memory": {whole, at(loanable(t, 8192).Locator(), 0)},
		"twice":           {whole, whole},
		"no memory":       {whole[flow.LoanLocator:], nil},
	} {
		p, g := hostile()
		for i, body := range [][]byte{c.first, c.second} {
			p.links[0].Inject(driver.Header{Kind: flow.KindLoan, Context: flow.DefaultContext, Body: uint32(len(body)), Tag: 1, Size: 50, Seq: uint32(i)}, body)
			g.poll()
			if broken := errors.Is(g.Err(), ErrProtocol); broken != (i == 1 || c.second == nil) {
				t.Errorf("%s: after LOAN %d: %v", what, i, g.Err())
			}
		}
	}
}

// TestLoanBlind: one that cannot map what it is loaned gets the message as ever.
func TestLoanBlind(t *testing.T) {
	none, gone, other, elsewhere := mapped.Locator{}, loanable(t, 8192), loanable(t, 8192).Locator(), loanable(t, 8192).Locator()
	gone.Hide()
	other.File++
	elsewhere.PID++
	for what, locator := range map[string]mapped.Locator{"no memory": none, "hidden": gone.Locator(), "another file": other, "another process": elsewhere} {
		p, g := hostile()
		r := g.Start(&Operation{Kind: KindRecv, Match: Tag(1), Buf: make([]byte, 100), Loan: true})
		p.links[0].Inject(driver.Header{Kind: flow.KindLoan, Context: flow.DefaultContext, Body: flow.LoanLocator + flow.LoanBody, Tag: 1, Size: 100, Cookie: 7}, at(locator, 0))
		g.poll()
		if _, want := g.locked.flow.Rails[0].Streams[flow.Pull].Waits(); g.locked.endErr != nil || r.core.Stage != flow.Pulling || want != 100 {
			t.Errorf("%s: %v, the request is %v and wants %d bytes", what, g.locked.endErr, r.core.Stage, want)
		}
	}
}

// TestLoanChanges: what is loaned may change under the program that reads it, and stays readable when the gate has
// ended in a bad way.
func TestLoanChanges(t *testing.T) {
	m := loanable(t, 8192)
	mem := m.Bytes()
	mem[4100] = 7
	p, g := hostile()
	r := g.Start(&Operation{Kind: KindRecv, Match: Tag(1), Buf: nil, Loan: true})
	p.links[0].Inject(driver.Header{Kind: flow.KindLoan, Context: flow.DefaultContext, Body: flow.LoanLocator + flow.LoanBody, Tag: 1, Size: 50, Cookie: 3}, at(m.Locator(), 4096))
	g.poll()
	mustDone(t, r, nil)
	l := r.Loan()
	if len(l.Bytes()) != 50 || cap(l.Bytes()) != 50 || l.Bytes()[4] != 7 {
		t.Fatalf("%d bytes", len(l.Bytes()))
	}
	mem[4100] = 8
	p.links[0].Break(driver.ErrPeerLost)
	for g.locked.endErr == nil {
		g.poll()
	}
	if l.Bytes()[4] != 8 || g.locked.view == nil {
		t.Error("the memory is another one, or gone")
	}
	if err := l.Release(); err != nil || g.locked.view != nil {
		t.Errorf("%v, or the memory stays mapped", err)
	}
}

// TestReturnTwice: each loan is returned by one packet, in time, and a second Release by nothing.
func TestReturnTwice(t *testing.T) {
	m := loanable(t, 8192)
	p, g := hostile()
	for i := range uint32(20) { // more than the small track holds
		r := g.Start(&Operation{Kind: KindRecv, Match: Tag(1), Buf: nil, Loan: true})
		body := at(m.Locator(), 0)
		if i > 0 {
			body = body[flow.LoanLocator:]
		}
		p.links[0].Inject(driver.Header{Kind: flow.KindLoan, Context: flow.DefaultContext, Body: uint32(len(body)), Tag: 1, Size: 50, Cookie: 100 + i, Seq: i}, body)
		g.poll()
		mustDone(t, r, nil)
		l := r.Loan()
		if err := errors.Join(l.Release()); err != nil {
			t.Error(err)
		}
		if err := l.Release(); !errors.Is(err, ErrReleased) {
			t.Errorf("released twice: %v", err)
		}
	}
	for i := range uint32(20) {
		var h driver.Header
		_, ok, err := p.links[0].Recv(&h)
		for !ok && err == nil {
			g.poll()
			_, ok, err = p.links[0].Recv(&h)
		}
		if err != nil || h.Kind != flow.KindReturn || h.Cookie != 100+i {
			t.Fatalf("return %d: kind %d, cookie %d, %v", i, h.Kind, h.Cookie, err)
		}
	}
	g.poll()
	if g.locked.flow.Ledger().Loaned != 0 || g.locked.flow.Outgoing() || p.engines[1].Pending() != 0 {
		t.Errorf("%d loans are out, something waits: %v, the engine counts %d", g.locked.flow.Ledger().Loaned, g.locked.flow.Outgoing(), p.engines[1].Pending())
	}
}

// selfPeerLink is a simulated link whose peer is this process.
type selfPeerLink struct{ *simnet.Link }

func (nb selfPeerLink) Caps() driver.Caps {
	c := nb.Link.Caps()
	c.Process = os.Getpid()
	return c
}

// hostile is a gate whose peer is the test.
func hostile() (*pair, *Gate) {
	p := newPair(simnet.Options{}, wide)
	p.gates[1].locked.bind(selfPeerLink{p.links[1]}, 0)
	return p, p.gates[1]
}

// TestReturnOfNothing: a peer that returns what it was not loaned is thrown out.
func TestReturnOfNothing(t *testing.T) {
	for what, begin := range map[string]func(g *Gate) *Request{
		"nothing sent":   func(*Gate) *Request { return nil },
		"it was no loan": func(g *Gate) *Request { return g.Isend(1, make([]byte, 1000)) },
	} {
		p := newPair(simnet.Options{}, wide)
		g := p.gates[0]
		s := begin(g)
		p.links[1].Inject(driver.Header{Kind: flow.KindReturn, Cookie: 1 << flow.CookieBits}, nil)
		g.poll()
		if g.locked.endErr == nil || !errors.Is(g.locked.endErr, ErrProtocol) {
			t.Errorf("%s: %v", what, g.locked.endErr)
		}
		if s != nil {
			mustDone(t, s, ErrProtocol)
		}
	}
}

// TestBlockOfGivenUpSend: a block that comes back with a send that was given up is not given out again: the peer may
// still read it.
func TestBlockOfGivenUpSend(t *testing.T) {
	b := wide
	b.loans = 4096
	p := newPair(simnet.Options{}, b)
	g := p.gates[0]
	x, err := g.Alloc(4096)
	if err != nil {
		t.Skip(err) // no memory to share on this system
	}
	s := g.Start(&Operation{Match: Tag(1), Buffer: x})
	if err := x.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Alloc(4096); !errors.Is(err, ErrNoRoom) {
		t.Errorf("while it is sent: %v", err)
	}
	g.beginClose(ErrClosed)
	if _, err := g.Alloc(4096); !errors.Is(err, ErrNoRoom) {
		t.Errorf("while it is sent, and the gate closes: %v", err)
	}
	g.sayBye()
	mustDone(t, s, ErrClosed)
	if _, err := g.Alloc(4096); !errors.Is(err, ErrClosed) {
		t.Errorf("after its send was given up: %v", err)
	}
}

// TestLeftUncounted: a thread that is stopped between leaving something for the holder of the lock and counting it
// keeps no poller from going on.
func TestLeftUncounted(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	g := p.gates[0]
	l := &flow.Lease{}
	g.inbox.released.Store(l) // the first half of giveBack
	polled := make(chan bool)
	go func() {
		g.poll()
		close(polled)
	}()
	select {
	case <-polled:
	case <-time.After(10 * time.Second):
		t.Error("the poller waits for it")
	}
	g.inbox.due.Add(1) // the second half
	<-polled
	g.poll()
	if n := g.inbox.due.Load(); n != 0 || g.inbox.left() || g.locked.flow.Ledger().Kept != 1 {
		t.Errorf("%d are counted", n)
	}
}
