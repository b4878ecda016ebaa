package nmad

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/region"
)

// lentMemory is the descriptor of memory such as a peer lends.
func lentMemory(t *testing.T, bytes int) (fd int, mem []byte) {
	t.Helper()
	m, err := region.New(bytes)
	if err != nil {
		t.Fatal(err)
	}
	if fd, err = unix.Dup(m.Descriptor()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Free)
	return fd, m.Bytes()
}

// TestHostileLoans: a descriptor or a place that makes no sense ends the gate with ErrProtocol, and nothing is read there.
func TestHostileLoans(t *testing.T) {
	word := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	file := func() int {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fd, err := unix.Dup(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	unsealed := func(bytes int64) int {
		fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Ftruncate(fd, bytes); err != nil {
			t.Fatal(err)
		}
		return fd
	}
	sealed := func(bytes int64) int {
		fd := unsealed(bytes)
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW); err != nil {
			t.Fatal(err)
		}
		return fd
	}
	good := func() int { fd, _ := lentMemory(t, 8192); return fd }
	for what, c := range map[string]struct {
		fd   int
		size uint64
		body []byte
	}{
		"no memory given":   {-1, 100, word(0)},
		"a file":            {file(), 100, word(0)},
		"may shrink":        {unsealed(8192), 100, word(0)},
		"empty memory":      {sealed(0), 100, word(0)},
		"half a page":       {sealed(2048), 100, word(0)},
		"too much":          {sealed(region.MaxSize + region.PageSize), 100, word(0)},
		"a byte too far":    {good(), 100, word(8192 - 99)},
		"behind the end":    {good(), 1, word(8192)},
		"wraps around":      {good(), 100, word(1<<64 - 50)},
		"longer than it":    {good(), 8193, word(0)},
		"as long as can be": {good(), 1 << 62, word(0)},
		"empty":             {good(), 0, word(0)},
		"short description": {good(), 100, word(0)[:7]},
		"long description":  {good(), 100, append(word(0), 0)},
	} {
		p, g := hostile(c.fd, nil)
		r := g.Start(&Op{Kind: OpRecv, Match: Tag(1), Buf: nil, Loan: true})
		p.links[0].Inject(driver.Header{Kind: flow.KindLoan, Context: flow.Plain, Body: uint32(len(c.body)), Tag: 1, Size: c.size}, c.body)
		g.poll()
		if g.locked.end == nil || !errors.Is(g.locked.end, ErrProtocol) {
			t.Errorf("%s: %v", what, g.locked.end)
			continue
		}
		mustDone(t, r, ErrProtocol)
		if g.locked.view != nil {
			t.Errorf("%s: memory stays mapped", what)
		}
	}
}

// TestLoanChanges: what is lent may change under the program that reads it, and stays readable when the gate has ended in a bad way.
func TestLoanChanges(t *testing.T) {
	fd, mem := lentMemory(t, 8192)
	mem[4100] = 7
	p, g := hostile(fd, nil)
	r := g.Start(&Op{Kind: OpRecv, Match: Tag(1), Buf: nil, Loan: true})
	p.links[0].Inject(driver.Header{Kind: flow.KindLoan, Context: flow.Plain, Body: flow.LoanBody, Tag: 1, Size: 50, Cookie: 3}, binary.LittleEndian.AppendUint64(nil, 4096))
	g.poll()
	mustDone(t, r, nil)
	l := r.Loan()
	if len(l.Bytes()) != 50 || cap(l.Bytes()) != 50 || l.Bytes()[4] != 7 {
		t.Fatalf("%d bytes", len(l.Bytes()))
	}
	mem[4100] = 8
	p.links[0].Break(driver.ErrPeerLost)
	for g.locked.end == nil {
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
	fd, _ := lentMemory(t, 8192)
	p, g := hostile(fd, nil)
	for i := range uint32(20) { // more than the small track holds
		r := g.Start(&Op{Kind: OpRecv, Match: Tag(1), Buf: nil, Loan: true})
		p.links[0].Inject(driver.Header{Kind: flow.KindLoan, Context: flow.Plain, Body: flow.LoanBody, Tag: 1, Size: 50, Cookie: 100 + i, Seq: i}, make([]byte, flow.LoanBody))
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
