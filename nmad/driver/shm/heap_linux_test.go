package shm

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/drivertest"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// The race detector knows nothing of a mapping that two address ranges share.
// Over ordinary memory, which both sides of a link use under the same address,
// it sees every access, plain or atomic, copies included: so the whole suite
// runs over such links as well.

// TestConformanceHeap is only worth its name with -race.
func TestConformanceHeap(t *testing.T) {
	drivertest.RunInside(t, &heapDriver{geo: standard, paths: longPaths{policy: copyAuto, minOffer: standardMinOffer}})
}

func TestConformanceHeapTiny(t *testing.T) {
	drivertest.RunInside(t, &heapDriver{geo: geometry{cells: 4, maxBody: 200, bodies: 1024, slots: 2, slotSize: 192}, paths: longPaths{policy: copySingle, minOffer: 100}})
}

// heapDriver links endpoints of one process, over memory of Go's heap.
type heapDriver struct {
	geo   geometry
	paths longPaths
	mu    sync.Mutex
	n     int
	eps   map[string]*heapEndpoint
}

type heapEndpoint struct {
	drv  *heapDriver
	addr string
	come chan *link
}

func (*heapDriver) Name() string { return "heap" }

func (hd *heapDriver) Open(c driver.Config) (driver.Endpoint, error) {
	hd.mu.Lock()
	defer hd.mu.Unlock()
	hd.n++
	e := &heapEndpoint{hd, fmt.Sprint(hd.n), make(chan *link)}
	if hd.eps == nil {
		hd.eps = map[string]*heapEndpoint{}
	}
	hd.eps[e.addr] = e
	return e, nil
}

func (he *heapEndpoint) Addr() string { return he.addr }
func (he *heapEndpoint) Close() error { return nil }

func (he *heapEndpoint) Choice(int, string) (string, string) { return "", "" }

func (he *heapEndpoint) Accept(ctx context.Context) (int, driver.Link, error) {
	select {
	case l := <-he.come:
		return l.Rank, l, nil
	case <-ctx.Done():
		return -1, nil, ctx.Err()
	}
}

func (he *heapEndpoint) Dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	mem := heapSegment(he.drv.geo)
	a, b, err := heapLinks(mem, he.drv.geo)
	if err != nil {
		return nil, err
	}
	a.Rank, b.Rank = 0, 1
	for _, l := range []*link{a, b} {
		l.setPeer(ourselves(), he.drv.paths)
	}
	he.drv.mu.Lock()
	to := he.drv.eps[addr]
	he.drv.mu.Unlock()
	select {
	case to.come <- b:
		return a, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ourselves gives the number of this process if its memory can be read, as that of a peer is.
func ourselves() int {
	n := newNonce()
	e := evidence{process.AddressOf(n[:]), *n}
	pid := e.heldBy(os.Getpid())
	runtime.KeepAlive(n)
	return pid
}

// heapSegment gives memory for a segment.
func heapSegment(g geometry) []byte { return aligned(g.size()) }

// aligned gives n bytes that begin at a multiple of padding.
func aligned(n uint64) []byte {
	b := make([]byte, n+padding)
	off := -uintptr(unsafe.Pointer(&b[0])) % padding
	return b[off : uint64(off)+n]
}

// heapLinks makes the dialer's and the listener's side over that memory, with
// real doorbells and a real socket.
func heapLinks(mem []byte, g geometry) (dialer, listener *link, err error) {
	var socks [2]int
	if socks, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		return nil, nil, err
	}
	var bells, copies [2]int
	for i := range bells {
		if bells[i], err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
			return nil, nil, err
		}
		if copies[i], err = unix.FcntlInt(uintptr(bells[i]), unix.F_DUPFD_CLOEXEC, 3); err != nil {
			return nil, nil, err
		}
	}
	var out [2]*link
	for i := range out {
		l, err := newLink(mem, g, i)
		if err != nil {
			return nil, nil, err
		}
		l.sock, l.bell, l.peerBell = socks[i], bells[i], copies[1-i]
		if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
			return nil, nil, err
		}
		if err := raw.Interest(l.epoll, unix.EPOLL_CTL_ADD, l.bell, unix.EPOLLIN); err != nil {
			return nil, nil, err
		}
		if err := raw.Interest(l.epoll, unix.EPOLL_CTL_ADD, l.sock, unix.EPOLLRDHUP); err != nil {
			return nil, nil, err
		}
		l.interval = asm.ToCycles(int64(peerCheckEvery))
		l.Init(Name, 0, l.free)
		out[i] = l
	}
	return out[0], out[1], nil
}
