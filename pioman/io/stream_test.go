package pio

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// overKinds runs f over each kind of connection, used in each mode.
func overKinds(t *testing.T, f func(t *testing.T, a, b net.Conn)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			modes(t, func(t *testing.T, g *rig, run func(func())) {
				ends(t, "the exchange", func() {
					run(func() {
						a, b := k.pair(t, g.Reactor)
						f(t, a, b)
						_ = a.Close()
						_ = b.Close()
					})
				})
			})
		})
	}
}

// group is a number of users: threads if the caller is one, goroutines otherwise.
type group struct {
	left    sync.WaitGroup
	threads []marcel.Thread
}

func (g *group) start(f func()) {
	if marcel.OnThread() {
		g.threads = append(g.threads, marcel.Spawn(f))
		return
	}
	g.left.Go(f)
}

func (g *group) wait() {
	for _, t := range g.threads {
		_ = t.Join()
	}
	if len(g.threads) == 0 {
		g.left.Wait()
	}
}

// both runs two functions at the same time.
func both(f, g func()) {
	var x group
	x.start(f)
	g()
	x.wait()
}

// Many times what the kernel buffers, in pieces of any size, while signals come in.
func TestBulk(t *testing.T) {
	const size = 3 << 20
	data := make([]byte, size)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	overKinds(t, func(t *testing.T, a, b net.Conn) {
		var over atomic.Bool
		storm := make(chan struct{})
		go func() {
			defer close(storm)
			for !over.Load() {
				_ = unix.Kill(os.Getpid(), unix.SIGURG) // which the Go runtime takes for a request to look around
				time.Sleep(100 * time.Microsecond)
			}
		}()
		var got bytes.Buffer
		both(func() {
			r := rand.New(rand.NewPCG(3, 4))
			for rest := data; len(rest) > 0; {
				n := min(1+r.IntN(300_000), len(rest))
				if m, err := a.Write(rest[:n]); m != n || err != nil {
					t.Errorf("wrote %d bytes of %d: %v", m, n, err)
					break
				}
				rest = rest[n:]
			}
		}, func() {
			r := rand.New(rand.NewPCG(5, 6))
			p := make([]byte, 100_000)
			for got.Len() < size {
				n, err := b.Read(p[:1+r.IntN(len(p))])
				got.Write(p[:n])
				if err != nil {
					t.Errorf("after %d bytes: %v", got.Len(), err)
					break
				}
			}
		})
		over.Store(true)
		<-storm
		if !bytes.Equal(got.Bytes(), data) {
			t.Errorf("%d bytes arrived, not the ones sent", got.Len())
		}
	})
}

// closeWrite ends one direction.
func closeWrite(c net.Conn) error { return c.(interface{ CloseWrite() error }).CloseWrite() }

// What was sent before a half-close arrives, then EOF, again and again, while the other
// direction goes on.
func TestHalfClose(t *testing.T) {
	overKinds(t, func(t *testing.T, a, b net.Conn) {
		both(func() {
			if _, err := a.Write([]byte("question")); err != nil {
				t.Error(err)
			}
			if err := closeWrite(a); err != nil {
				t.Error(err)
			}
			all, err := io.ReadAll(a)
			if string(all) != "answer" || err != nil {
				t.Errorf("%q: %v", all, err)
			}
		}, func() {
			all, err := io.ReadAll(b)
			if string(all) != "question" || err != nil {
				t.Errorf("%q: %v", all, err)
			}
			for range 3 {
				if n, err := b.Read(make([]byte, 1)); n != 0 || err != io.EOF {
					t.Errorf("%d bytes: %v, want EOF", n, err)
				}
			}
			if _, err := b.Write([]byte("answer")); err != nil {
				t.Error(err)
			}
			if err := closeWrite(b); err != nil {
				t.Error(err)
			}
		})
	})
}

// A reader that waits when the connection is reset, and one that comes later, learn
// of it; so does a writer.
func TestReset(t *testing.T) {
	modes(t, func(t *testing.T, g *rig, run func(func())) {
		ends(t, "reset", func() {
			run(func() {
				x, y := tcpPair(t, g.Reactor)
				a, b := x.(*Conn), y.(*Conn)
				both(func() {
					_, err := a.Read(make([]byte, 1))
					if !errors.Is(err, unix.ECONNRESET) {
						t.Errorf("read: %v, want a reset", err)
					}
				}, func() {
					rc, err := b.SyscallConn()
					if err != nil {
						t.Error(err)
						return
					}
					_ = rc.Control(func(fd uintptr) {
						err = unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
					})
					if err = errors.Join(err, b.Close()); err != nil {
						t.Error(err)
					}
				})
				var op *net.OpError
				_, err := a.Write([]byte{1})
				if !errors.Is(err, unix.EPIPE) || !errors.As(err, &op) || op.Op != "write" || op.Net != "tcp" || op.Addr == nil || op.Source == nil {
					t.Errorf("write: %#v, want a broken pipe with both addresses", err)
				}
				_ = a.Close()
			})
		})
	})
}

// Close ends the one that reads, writes, or waits for its turn to, with net.ErrClosed.
func TestCloseEndsEverybody(t *testing.T) {
	overKinds(t, func(t *testing.T, a, b net.Conn) {
		const users = 4 // of each direction
		var ready atomic.Int32
		var g group
		for range users {
			g.start(func() {
				ready.Add(1)
				if _, err := a.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
					t.Errorf("read: %v", err)
				}
			})
			g.start(func() {
				ready.Add(1)
				for {
					if _, err := a.Write(make([]byte, 64<<10)); err != nil {
						if !errors.Is(err, net.ErrClosed) {
							t.Errorf("write: %v", err)
						}
						return
					}
				}
			})
		}
		for ready.Load() < 2*users {
			marcel.Yield()
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		g.wait()
		for what, err := range map[string]error{
			"close again":  a.Close(),
			"deadline":     a.SetDeadline(time.Now()),
			"read, closed": func() error { _, err := a.Read(nil); return err }(),
		} {
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// A descriptor's number is not given to another file while an operation may still use it:
// readers meet the data of their own connection, or its end. The numbers are used
// again at once, since connections are made and closed all the time.
func TestNumbersAreNotMixedUp(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	modes(t, func(t *testing.T, g *rig, run func(func())) {
		ends(t, "the rounds", func() {
			run(func() {
				var all group
				for w := range 3 {
					all.start(func() { mixUp(t, g, byte(w), rounds) })
				}
				all.wait()
			})
		})
	})
}

func mixUp(t *testing.T, g *rig, mark byte, rounds int) {
	r := rand.New(rand.NewPCG(uint64(mark), 7))
	for range rounds {
		a, b, err := g.SocketPair()
		if err != nil {
			t.Error(err)
			return
		}
		reader := func() {
			p := make([]byte, 64)
			for {
				n, err := a.Read(p)
				for _, x := range p[:n] {
					if x != mark {
						t.Errorf("byte %d of another connection on one of %d", x, mark)
						return
					}
				}
				if err != nil {
					if err != io.EOF && !errors.Is(err, net.ErrClosed) {
						t.Error(err)
					}
					return
				}
			}
		}
		both(reader, func() {
			for range r.IntN(4) {
				_, _ = b.Write(bytes.Repeat([]byte{mark}, 1+r.IntN(200)))
			}
			if r.IntN(2) == 0 {
				_ = a.Close()
				_ = b.Close()
			} else {
				_ = b.Close()
			}
		})
		_ = a.Close()
	}
}

// Several pieces at once, more than one system call takes, empty ones among them.
func TestVectors(t *testing.T) {
	overKinds(t, func(t *testing.T, a, b net.Conn) {
		type vectors interface {
			Readv([][]byte) (int, error)
			Writev([][]byte) (int, error)
		}
		in, out := b.(vectors), a.(vectors)
		var bufs [][]byte
		var want []byte
		for i := range 150 {
			p := bytes.Repeat([]byte{byte(i)}, i*i%5000)
			bufs = append(bufs, p)
			want = append(want, p...)
		}
		both(func() {
			n, err := out.Writev(bufs)
			if n != len(want) || err != nil {
				t.Errorf("wrote %d bytes of %d: %v", n, len(want), err)
			}
		}, func() {
			var got []byte
			for len(got) < len(want) {
				x, y, z := make([]byte, 1000), make([]byte, 0), make([]byte, 3)
				n, err := in.Readv([][]byte{x, y, z})
				if err != nil {
					t.Error(err)
					return
				}
				got = append(append(got, x[:min(n, len(x))]...), z[:max(n-len(x), 0)]...)
			}
			if !bytes.Equal(got, want) {
				t.Error("other bytes arrived than were sent")
			}
			if n, err := in.Readv(nil); n != 0 || err != nil {
				t.Errorf("into nothing: %d, %v", n, err)
			}
		})
	})
}

// What a partial write leaves to be written, and how the kernel is told.
func FuzzVector(f *testing.F) {
	f.Add([]byte{3, 0, 5, 1}, 4)
	f.Add([]byte{}, 0)
	f.Add(bytes.Repeat([]byte{1}, 200), 70)
	f.Fuzz(func(t *testing.T, sizes []byte, n int) {
		var bufs [][]byte
		var all []byte
		for i, size := range sizes {
			p := bytes.Repeat([]byte{byte(i)}, int(size))
			bufs = append(bufs, p)
			all = append(all, p...)
		}
		if n < 0 || n > len(all) {
			return
		}
		rest, skip := advance(bufs, n)
		var s direction
		vec := s.vector(rest, skip)
		if len(vec) == 0 != (n == len(all)) {
			t.Fatalf("%d pieces with %d bytes to go", len(vec), len(all)-n)
		}
		at := n
		for i := range vec {
			l := int(vec[i].Len)
			if l == 0 || at+l > len(all) || *vec[i].Base != all[at] {
				t.Fatalf("piece %d: %d bytes, does not begin at byte %d of %d", i, l, at, len(all))
			}
			at += l
		}
		if len(vec) < maxIovecs && at != len(all) {
			t.Fatalf("%d pieces end at byte %d, of %d", len(vec), at, len(all))
		}
	})
}
