//go:build linux

package drivertest

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/sched/topo"
)

// What the serving process is asked to do, as the kind of a packet whose Size is the number of bytes or rounds.
const (
	askEcho      = iota + 1 // send this packet back
	askSink                 // receive Size packets, then answer
	askLargeEcho            // pull Size bytes, push them back; Tag times
	askLargeSink            // pull Size bytes, then answer
	askProbe                // Size rounds of the bare cache line
	askRaw                  // Size rounds of the bare socket
	askCopy                 // fetch Size bytes from the asker's memory, let it fetch them from here; Tag times
	askQuit
)

// Bench measures a driver between two processes on two CPUs: half round trips, and streams, copying each body out as
// nmad would, with things beside it that no driver can beat: a cache line that goes to the other core and back
// (probe-ns, in every row: rows of different probes are not to be compared), and a loop of write and read on a bare
// socket; and the rival of copying twice, one copy by process_vm_readv. Call it directly from a benchmark function,
// once. It skips on a single CPU.
func Bench(b *testing.B, d driver.Driver) {
	if o, ok := mine(b.Name()); ok {
		if err := obey(d, o, func(s *side) error { return serve(s, o.CPU) }); err != nil {
			b.Fatal(err)
		}
		return
	}
	cpus, err := topo.Affinity(0)
	if err != nil || cpus.Count() < 2 {
		b.Skip("needs two CPUs")
	}
	cpu := slices.Collect(cpus.All())
	pf, err := newProbe()
	if err != nil {
		b.Fatal(err)
	}
	defer pf.Close()
	rawHere, rawThere, err := barePair(d.Name())
	if err != nil {
		b.Fatal(err)
	}
	defer rawThere.Close()
	s, c := withChild(b, b, d, "bench", cpu[1], pf, rawThere)
	m := &meter{side: s, cpu: cpu[0], raw: rawHere, buf: make([]byte, max(4<<20, s.Caps().MaxBody)), child: c.cmd.Process.Pid}
	if m.probe, err = mapProbe(pf); err != nil {
		b.Fatal(err)
	}
	m.rows(b)
	if err := s.send(driver.Header{Kind: askQuit}, nil); err != nil {
		b.Error(err)
	}
	if err := c.wait(); err != nil {
		b.Error(err)
	}
}

// meter is the measuring process.
type meter struct {
	*side
	cpu   int
	probe *probe
	raw   int
	buf   []byte
	child int // process id
}

func (m *meter) rows(b *testing.B) {
	for _, n := range []int{1, 32, 64, 256, 1 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10} {
		if n <= m.Caps().MaxBody {
			m.row(b, fmt.Sprintf("small/%d", n), n, 2, func(k int) error { return m.echo(k, n) })
		}
	}
	for _, n := range []int{1, 4 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 1 << 20, 4 << 20} {
		m.row(b, fmt.Sprintf("large/%d", n), n, 2, func(k int) error { return m.largeEcho(k, n) })
	}
	for _, n := range []int{8, m.Caps().MaxBody} {
		m.row(b, fmt.Sprintf("stream/small/%d", n), n, 1, func(k int) error { return m.stream(k, n) })
	}
	m.row(b, "stream/large/1048576", 1<<20, 1, func(k int) error { return m.largeStream(k, 1<<20) })
	m.row(b, "bare/line", 0, 2, m.bareLine)
	m.row(b, "bare/socket", 1, 2, m.bareSocket)
	for _, n := range []int{16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20} {
		m.row(b, fmt.Sprintf("bare/singlecopy/%d", n), n, 2, func(k int) error { return m.bareCopy(k, n) })
	}
}

// row runs k operations of bytes bytes each, which are ways one-way trips.
func (m *meter) row(b *testing.B, name string, bytes, ways int, run func(k int) error) {
	b.Run(name, func(b *testing.B) {
		unbind, err := bind(m.cpu)
		if err != nil {
			b.Skipf("cannot bind: %v", err)
		}
		defer unbind()
		before, err := m.line(2000)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		b.ResetTimer()
		times, err := batches(b.N, run)
		b.StopTimer()
		if err != nil {
			b.Fatal(err)
		}
		after, err := m.line(2000)
		if err != nil {
			b.Fatal(err)
		}
		oneway := times[len(times)/2] / float64(ways)
		b.ReportMetric(oneway, "oneway-ns")
		b.ReportMetric(times[0]/float64(ways), "min-ns")
		b.ReportMetric((before+after)/2, "probe-ns")
		if bytes > 1 {
			b.ReportMetric(float64(bytes)/oneway*1000, "MB/s")
		}
		b.ReportMetric(0, "ns/op")
	})
}

// batches runs n operations and gives the time of one, in ns, batch by batch in ascending order. A batch takes about a
// quarter of a millisecond: on a machine where others run too, whole batches are disturbed, and the median is not.
func batches(n int, run func(k int) error) ([]float64, error) {
	const aim = 250e3 // ns
	var times []float64
	for k := 1; n > 0; {
		c := min(k, n)
		start := time.Now()
		if err := run(c); err != nil {
			return nil, err
		}
		took := float64(time.Since(start).Nanoseconds())
		if n -= c; took < aim/2 && k < 1<<20 {
			k *= 2
			if n > 0 {
				continue // not long enough to count
			}
		}
		times = append(times, took/float64(c))
	}
	slices.Sort(times)
	return times, nil
}

func (m *meter) echo(k, n int) error {
	buf := m.buf[:n]
	h := driver.Header{Kind: askEcho, Body: uint32(n)}
	for range k {
		if err := spin(func() (bool, error) { return m.Send(&h, buf, nil, false) }); err != nil {
			return err
		}
		for {
			body, ok, err := m.Recv(&m.h)
			if err != nil {
				return err
			}
			if ok {
				copy(buf, body)
				break
			}
		}
	}
	return nil
}

func (m *meter) largeEcho(k, n int) error {
	if err := m.askMany(askLargeEcho, n, k); err != nil {
		return err
	}
	buf := m.buf[:n]
	for range k {
		if err := spinPush(m.Link, buf); err != nil {
			return err
		}
		if err := spinPull(m.Link, buf); err != nil {
			return err
		}
	}
	return nil
}

func (m *meter) stream(k, n int) error {
	if err := m.ask(askSink, k); err != nil {
		return err
	}
	buf := m.buf[:n]
	h := driver.Header{Body: uint32(n)}
	for range k {
		for {
			ok, err := m.Send(&h, buf, nil, false)
			if err != nil {
				return err
			}
			if ok {
				break
			}
		}
	}
	return m.answer()
}

func (m *meter) largeStream(k, n int) error {
	if err := m.ask(askLargeSink, k*n); err != nil {
		return err
	}
	buf := m.buf[:n]
	for range k {
		if err := spinPush(m.Link, buf); err != nil {
			return err
		}
	}
	return m.answer()
}

func (m *meter) bareLine(k int) error {
	if err := m.ask(askProbe, k); err != nil {
		return err
	}
	m.probe.serve(k)
	return nil
}

func (m *meter) bareSocket(k int) error {
	if err := m.ask(askRaw, k); err != nil {
		return err
	}
	return rawLoop(m.raw, k, true)
}

// bareCopy has either side fetch the other's buffer by process_vm_readv, told by a bare flag: the least that a single
// copy through the kernel costs.
func (m *meter) bareCopy(k, n int) error {
	if err := m.askMany(askCopy, n, k); err != nil {
		return err
	}
	return m.probe.copies(0, m.child, m.buf[:n], k)
}

// line gives the time that one cache line takes one way, in ns.
func (m *meter) line(rounds int) (float64, error) {
	if err := m.ask(askProbe, rounds); err != nil {
		return 0, err
	}
	return m.probe.time(rounds), nil
}

func (m *meter) ask(what uint8, size int) error { return m.askMany(what, size, 1) }

func (m *meter) askMany(what uint8, size, times int) error {
	h := driver.Header{Kind: what, Size: uint64(size), Tag: uint64(times)}
	return spin(func() (bool, error) {
		ok, err := m.Send(&h, nil, nil, false)
		return ok, err
	})
}

func (m *meter) answer() error {
	return spin(func() (bool, error) {
		if _, err := m.Flush(); err != nil {
			return false, err
		}
		_, ok, err := m.Recv(&m.h)
		return ok, err
	})
}

// spin is until without manners: both processes have a CPU for themselves.
func spin(try func() (bool, error)) error {
	for {
		if ok, err := try(); ok || err != nil {
			return err
		}
	}
}

func spinPush(l driver.Link, buf []byte) error {
	for len(buf) > 0 {
		n, err := l.Push(buf)
		if err != nil {
			return err
		}
		buf = buf[n:]
	}
	return nil
}

func spinPull(l driver.Link, buf []byte) error {
	for len(buf) > 0 {
		n, err := l.Pull(buf)
		if err != nil {
			return err
		}
		buf = buf[n:]
	}
	return nil
}

// serve is the other process.
func serve(s *side, cpu int) error {
	unbind, err := bind(cpu)
	if err != nil {
		return err
	}
	defer unbind()
	pr, err := mapProbe(os.NewFile(3, "probe"))
	if err != nil {
		return err
	}
	buf := make([]byte, max(4<<20, s.Caps().MaxBody))
	for {
		body, ok, err := s.Recv(&s.h)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		n := int(s.h.Size)
		switch s.h.Kind {
		case askEcho:
			k := copy(buf, body)
			err = spin(func() (bool, error) { return s.Send(&s.h, buf[:k], nil, false) })
		case askSink:
			for range n {
				err = spin(func() (bool, error) {
					body, ok, err := s.Recv(&s.h)
					copy(buf, body)
					return ok, err
				})
			}
			if err == nil {
				err = s.send(driver.Header{}, nil)
			}
		case askLargeEcho:
			for k := s.h.Tag; k > 0 && err == nil; k-- {
				if err = spinPull(s.Link, buf[:n]); err == nil {
					err = spinPush(s.Link, buf[:n])
				}
			}
		case askLargeSink:
			for at := 0; at < n && err == nil; at += 1 << 20 {
				err = spinPull(s.Link, buf[:min(1<<20, n-at)])
			}
			if err == nil {
				err = s.send(driver.Header{}, nil)
			}
		case askProbe:
			pr.answer(n)
		case askRaw:
			err = rawLoop(4, n, false)
		case askCopy:
			err = pr.copies(1, os.Getppid(), buf[:n], int(s.h.Tag))
		case askQuit:
			return nil
		default:
			err = errors.New("asked for something unknown")
		}
		if err != nil {
			return err
		}
	}
}

// bind keeps the calling goroutine on one CPU until it calls what it gets.
func bind(cpu int) (unbind func(), err error) {
	runtime.LockOSThread()
	old, err := topo.Affinity(0)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	if err := topo.CPUs(cpu).Bind(0); err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	return func() {
		_ = old.Bind(0)
		runtime.UnlockOSThread()
	}, nil
}
