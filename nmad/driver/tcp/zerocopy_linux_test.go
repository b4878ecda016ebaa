package tcp

import (
	"fmt"
	"io"
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkZeroCopy is what the decision long-messages-over-sockets rests on: megabytes through
// one connection of this host, sent in the ordinary way and with MSG_ZEROCOPY. The latter also
// reports in how many of its sends the kernel has copied after all.
func BenchmarkZeroCopy(b *testing.B) {
	for _, size := range []int{64 << 10, 1 << 20, 4 << 20} {
		for _, zero := range []bool{false, true} {
			name := map[bool]string{false: "plain", true: "zerocopy"}[zero]
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) { flow(b, size, zero) })
		}
	}
}

func flow(b *testing.B, size int, zero bool) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	received := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c}, make([]byte, 1<<20))
			c.Close()
		}
		received <- err
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		b.Fatal(err)
	}
	flags := 0
	if zero {
		flags = unix.MSG_ZEROCOPY
		var e error
		if raw.Control(func(fd uintptr) { e = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1) }); e != nil {
			b.Skipf("the kernel does not do it: %v", e)
		}
	}
	data := make([]byte, size)
	sends, told, copied := 0, 0, 0
	notices := func(fd uintptr) {
		var oob [128]byte
		for {
			_, n, _, _, err := unix.Recvmsg(int(fd), nil, oob[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
			if err != nil {
				return
			}
			messages, err := unix.ParseSocketControlMessage(oob[:n])
			if err != nil || len(messages) == 0 || len(messages[0].Data) < 16 {
				return
			}
			// struct sock_extended_err: origin at 4, code at 6, first and last send at 8 and 12
			d := messages[0].Data
			word := func(at int) int { return int(d[at]) | int(d[at+1])<<8 | int(d[at+2])<<16 | int(d[at+3])<<24 }
			if d[4] != unix.SO_EE_ORIGIN_ZEROCOPY {
				continue
			}
			many := word(12) - word(8) + 1
			told += many
			if d[6]&unix.SO_EE_CODE_ZEROCOPY_COPIED != 0 {
				copied += many
			}
		}
	}
	b.SetBytes(int64(size))
	b.ResetTimer()
	for range b.N {
		for left := data; len(left) > 0; {
			var n int
			var e error
			if err := raw.Write(func(fd uintptr) bool {
				n, e = unix.SendmsgN(int(fd), left, nil, nil, flags|unix.MSG_DONTWAIT)
				if zero {
					notices(fd)
				}
				return e != unix.EAGAIN
			}); err != nil {
				b.Fatal(err)
			}
			if e != nil && e != unix.ENOBUFS { // its notices are not fetched yet
				b.Fatal(e)
			}
			if n > 0 {
				left = left[n:]
				sends++
			}
		}
	}
	b.StopTimer()
	c.(*net.TCPConn).CloseWrite()
	if err := <-received; err != nil {
		b.Error(err)
	}
	for zero && told < sends {
		was := told
		raw.Control(notices)
		if told == was {
			break
		}
	}
	c.Close()
	if zero {
		b.ReportMetric(float64(copied)/float64(max(told, 1)), "copied/send")
	}
}
