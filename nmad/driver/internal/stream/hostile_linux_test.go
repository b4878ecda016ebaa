package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/listener"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

func config(rank int) driver.Config {
	return driver.Config{Rank: rank, Size: 2, Job: "test", Secret: []byte("a secret")}
}

const standardBody = 64 << 10

// testWakeBytes is little, so that tests cross it often.
const testWakeBytes = 16 << 10

// open opens a process on the plainest network there is: TCP over loopback.
func open(t *testing.T, c driver.Config) *endpoint { return openBody(t, c, standardBody) }

func openBody(t *testing.T, c driver.Config, body int) *endpoint {
	t.Helper()
	ep, err := Network{
		Name: "plain", Hint: "is it there?", MaxBody: body, WakeBytes: testWakeBytes,
		Listen: listener.TCP, Check: func(string) error { return nil },
		Take: func(c Conn) (int, error) { return raw.Take(c) },
	}.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ep.Close() })
	return ep.(*endpoint)
}

// dialRaw authenticates a bare connection as one track of a link of rank 1.
func dialRaw(t *testing.T, ep *endpoint, track uint8, id byte) (*net.TCPConn, error) {
	t.Helper()
	conn, err := net.Dial("tcp", ep.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	me := ep.Me()
	me.Rank, me.Track, me.Link = 1, track, linkID{id}
	_, err = meet.Dialer(conn, me, 0)
	return conn.(*net.TCPConn), err
}

// linkRaw gives a link whose peer is two bare sockets.
func linkRaw(t *testing.T) (l driver.Link, small, large *net.TCPConn) {
	t.Helper()
	ep := open(t, config(0))
	small, err := dialRaw(t, ep, trackSmall, 1)
	if err != nil {
		t.Fatal(err)
	}
	if large, err = dialRaw(t, ep, trackLarge, 1); err != nil {
		t.Fatal(err)
	}
	_, l, err = ep.Accept(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, small, large
}

// poll receives until there is something or an error.
func poll(t *testing.T, l driver.Link) (driver.Header, []byte, error) {
	t.Helper()
	var h driver.Header
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		if body, ok, err := l.Recv(&h); ok || err != nil {
			return h, body, err
		}
	}
	t.Fatal("nothing came")
	return h, nil, nil
}

// TestViolations: what is no packet breaks the link, for good.
func TestViolations(t *testing.T) {
	packet := func(change func(b []byte)) []byte {
		b := make([]byte, driver.HeaderSize)
		change(b)
		return b
	}
	for name, bad := range map[string][]byte{
		"body longer than allowed": packet(func(b []byte) { binary.LittleEndian.PutUint32(b[4:], standardBody+1) }),
		"body of 4 GiB":            packet(func(b []byte) { binary.LittleEndian.PutUint32(b[4:], 1<<32-1) }),
		"reserved bytes":           packet(func(b []byte) { b[3] = 1 }),
	} {
		t.Run(name, func(t *testing.T) {
			l, small, _ := linkRaw(t)
			good := packet(func(b []byte) { b[0] = 5 })
			if _, err := small.Write(append(good, bad...)); err != nil {
				t.Fatal(err)
			}
			if h, _, err := poll(t, l); err != nil || h.Kind != 5 {
				t.Fatalf("the good packet before: %+v, %v", h, err)
			}
			_, _, err := poll(t, l)
			if !errors.Is(err, driver.ErrProtocol) {
				t.Fatalf("%v", err)
			}
			t.Log(err)
			if _, err := l.Send(&driver.Header{}, nil, nil, false); !errors.Is(err, driver.ErrProtocol) {
				t.Errorf("Send: %v", err)
			}
			if _, err := l.Pull(make([]byte, 1)); !errors.Is(err, driver.ErrProtocol) {
				t.Errorf("Pull: %v", err)
			}
			if l.Arm(false) {
				t.Error("a broken link can be armed")
			}
		})
	}
}

// TestPieces: packets that arrive byte by byte, and many in one piece, and with
// their borders anywhere, are the same packets.
func TestPieces(t *testing.T) {
	l, small, _ := linkRaw(t)
	const n = 40
	var stream []byte
	for i := range n {
		h := driver.Header{Kind: uint8(i), Body: uint32(i * 7), Tag: uint64(i)}
		b := make([]byte, driver.HeaderSize)
		h.Put(b)
		stream = append(stream, b...)
		for j := range i * 7 {
			stream = append(stream, byte(i+j))
		}
	}
	for _, step := range []int{len(stream), 1, 31, 33, 1000} {
		go func() {
			for at := 0; at < len(stream); at += step {
				_, _ = small.Write(stream[at:min(at+step, len(stream))])
			}
		}()
		for i := range n {
			h, body, err := poll(t, l)
			if err != nil || h.Kind != uint8(i) || h.Tag != uint64(i) || len(body) != i*7 {
				t.Fatalf("in pieces of %d: packet %d: %+v, %d bytes, %v", step, i, h, len(body), err)
			}
			for j, v := range body {
				if v != byte(i+j) {
					t.Fatalf("in pieces of %d: packet %d: byte %d is %d", step, i, j, v)
				}
			}
		}
	}
}

// TestCutShort: a peer that dies within a packet is lost, and the part of the
// packet is not handed out.
func TestCutShort(t *testing.T) {
	l, small, _ := linkRaw(t)
	b := make([]byte, driver.HeaderSize+10)
	(&driver.Header{Body: 100}).Put(b)
	if _, err := small.Write(b); err != nil {
		t.Fatal(err)
	}
	_ = small.Close()
	if _, _, err := poll(t, l); !errors.Is(err, driver.ErrPeerLost) {
		t.Errorf("%v", err)
	}
}

// TestArmSeesBuffered: what one read brought in with the packet before is seen
// by Arm, as the kernel knows nothing of it any more.
func TestArmSeesBuffered(t *testing.T) {
	l, small, _ := linkRaw(t)
	two := make([]byte, 2*driver.HeaderSize)
	for range 100 {
		if _, err := small.Write(two); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if _, _, err := poll(t, l); err != nil {
				t.Fatal(err)
			}
			if armed := l.Arm(false); armed != (i == 1) {
				t.Fatalf("after packet %d of two that came at once: Arm says %v", i, armed)
			}
			l.Disarm()
		}
	}
}

// TestLeftBytesWake: one that sleeps with a part of a packet in the buffer, which
// Send has taken, is woken when it can leave, though no send was refused.
func TestLeftBytesWake(t *testing.T) {
	l, small, _ := linkRaw(t)
	body := make([]byte, l.Caps().MaxBody)
	h := driver.Header{Body: uint32(len(body))}
	sent := 0
	for tries := 0; ; tries++ {
		ok, err := l.Send(&h, body, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			sent++
		}
		if done, err := l.Flush(); err != nil {
			t.Fatal(err)
		} else if !done && ok {
			break
		}
		if !ok {
			// Refused with nothing left over: let the peer take a little.
			if _, err := small.Read(make([]byte, 100_001)); err != nil {
				t.Fatal(err)
			}
		}
		if tries > 10_000 {
			t.Skip("the kernel never took a part of a packet")
		}
	}
	if !l.Arm(false) {
		t.Fatal("cannot be armed")
	}
	_ = small.SetReadDeadline(time.Time{})
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 1<<16)
		for {
			if _, err := small.Read(buf); err != nil {
				return
			}
		}
	}()
	fds := []unix.PollFd{{Fd: int32(l.Descriptor()), Events: unix.POLLIN}}
	for end := time.Now().Add(30 * time.Second); ; {
		n, err := unix.Poll(fds, 1000)
		if n == 1 {
			break
		}
		if err != nil && !errors.Is(err, unix.EINTR) || time.Now().After(end) {
			t.Fatalf("%d packets sent, the last one in part; there is room, and the sender is not woken: %v", sent, err)
		}
	}
	l.Disarm()
	for done := false; !done; {
		var err error
		if done, err = l.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	_ = l.Close()
	<-read
}

// TestHalves: the second connection of a link must belong to the first.
func TestHalves(t *testing.T) {
	ep := open(t, config(0))
	if _, err := dialRaw(t, ep, trackLarge, 1); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a second connection without a first: %v", err)
	}
	if _, err := dialRaw(t, ep, 7, 1); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a track 7: %v", err)
	}
	if _, err := dialRaw(t, ep, trackSmall, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := dialRaw(t, ep, trackSmall, 1); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("the same link begun twice: %v", err)
	}
	if _, err := dialRaw(t, ep, trackLarge, 2); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("the second connection of another link: %v", err)
	}
	if _, err := dialRaw(t, ep, trackLarge, 1); err != nil {
		t.Errorf("the right one: %v", err)
	}
	if _, err := dialRaw(t, ep, trackLarge, 1); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a third connection: %v", err)
	}
	if _, l, err := ep.Accept(context.Background()); err != nil {
		t.Error(err)
	} else {
		_ = l.Close()
	}
}

// TestHalfAlone: a link whose second connection never comes holds nothing up
// when the endpoint closes.
func TestHalfAlone(t *testing.T) {
	ep := open(t, config(0))
	small, err := dialRaw(t, ep, trackSmall, 1)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := ep.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took >= meet.Patience {
		t.Errorf("Close took %v", took)
	}
	if _, err := small.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the half is still connected: %v", err)
	}
}

// TestStrangers: garbage and silence on the port keep none from linking.
func TestStrangers(t *testing.T) {
	ep := open(t, config(0))
	for _, text := range []string{"", "GET / HTTP/1.1\r\n\r\n", "\xA1", "\xA1\xFF\xFF", strings.Repeat("\x00", 5000)} {
		conn, err := net.Dial("tcp", ep.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = conn.Write([]byte(text))
	}
	start := time.Now()
	l, err := open(t, config(1)).Dial(context.Background(), 0, ep.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	rank, r, err := ep.Accept(context.Background())
	if err != nil || rank != 1 {
		t.Fatal(rank, err)
	}
	defer r.Close()
	if took := time.Since(start); took >= meet.Patience {
		t.Errorf("linking took %v: it waited for the silent one", took)
	}
}

// TestSmallerBodyWins: two builds with different limits agree on the smaller.
func TestSmallerBodyWins(t *testing.T) {
	a := open(t, config(0))
	b := openBody(t, config(1), 1000)
	l, err := b.Dial(context.Background(), 0, a.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, r, err := a.Accept(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if l.Caps().MaxBody != 1000 || r.Caps().MaxBody != 1000 {
		t.Errorf("%d, %d", l.Caps().MaxBody, r.Caps().MaxBody)
	}
}

// FuzzStream: whatever the peer sends on the small track, in whatever pieces,
// it is packets within bounds or a violation.
func FuzzStream(f *testing.F) {
	good := make([]byte, driver.HeaderSize+3)
	(&driver.Header{Body: 3}).Put(good)
	f.Add(good, uint8(1))
	f.Add(append(good, good...), uint8(50))
	f.Add(make([]byte, 200), uint8(7))
	const most = 100
	socks, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _, _ = unix.Close(socks[0]), unix.Close(socks[1]) })
	f.Fuzz(func(t *testing.T, stream []byte, step uint8) {
		var r smallRecv
		r.init(most)
		handed := 0
		for len(stream) > 0 {
			n := min(len(stream), int(step)+1)
			if _, err := unix.Write(socks[0], stream[:n]); err != nil {
				t.Fatal(err)
			}
			stream = stream[n:]
			for in := 0; in < n; {
				k, errno := r.read(socks[1])
				if errno != 0 || k == 0 {
					t.Fatalf("no room for what is there: %v", errno)
				}
				in += k
				for {
					var h driver.Header
					body, ok, err := r.next(&h)
					if err != nil {
						if !errors.Is(err, driver.ErrProtocol) {
							t.Fatal(err)
						}
						for in < n { // leave nothing for the next run
							k, _ := unix.Read(socks[1], make([]byte, n-in))
							in += max(k, 0)
						}
						return
					}
					if !ok {
						break
					}
					if len(body) > most || len(body) != int(h.Body) {
						t.Fatalf("a body of %d bytes, header says %d", len(body), h.Body)
					}
					handed += driver.HeaderSize + len(body)
				}
				if r.end-r.at >= driver.HeaderSize+most {
					t.Fatalf("%d bytes are waiting and no packet is handed out", r.end-r.at)
				}
			}
		}
	})
}
