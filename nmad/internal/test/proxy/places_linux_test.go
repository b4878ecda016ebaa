package proxy

import (
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/drivertest"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/driver/tcp"
	unixdriver "github.com/pm2-go/pm2/nmad/driver/unix"
)

// TestRights: descriptors go through a proxy, or become what its plan says.
func TestRights(t *testing.T) {
	for plan, want := range map[string]int{"seed=1": 2, "rights=lose": 0, "rights=double": 4, "rights=other": 2} {
		t.Run(plan, func(t *testing.T) {
			p, a, b := between(t, "unix", plan)
			self, err := os.Open("/proc/self")
			if err != nil {
				t.Fatal(err)
			}
			defer self.Close()
			if _, _, err := a.(*net.UnixConn).WriteMsgUnix([]byte("two"), unix.UnixRights(int(self.Fd()), int(self.Fd())), nil); err != nil {
				t.Fatal(err)
			}
			buf, oob := make([]byte, 10), make([]byte, unix.CmsgSpace(4*mostRights))
			n, oobn, _, _, err := b.(*net.UnixConn).ReadMsgUnix(buf, oob)
			if err != nil || string(buf[:n]) != "two" {
				t.Fatal(n, err)
			}
			var got []int
			msgs, _ := unix.ParseSocketControlMessage(oob[:oobn])
			for i := range msgs {
				fds, _ := unix.ParseUnixRights(&msgs[i])
				got = append(got, fds...)
			}
			defer closeDescriptors(got)
			if len(got) != want || len(p.Log()) != min(1, strings.Count(plan, "rights")) {
				t.Errorf("%d descriptors came, want %d; %v", len(got), want, p.Log())
			}
			for i, fd := range got {
				to, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
				if same := strings.HasPrefix(to, "/proc/"); err != nil || same == (i == 0 && plan == "rights=other") {
					t.Errorf("descriptor %d is %q, %v", i, to, err)
				}
			}
		})
	}
}

// TestPlaces: a proxy knows where in the streams of real links it is.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		inner driver.Driver
		plan  string
		place string
	}{
		{tcp.Driver{}, "connection=1 wait=up:4:1ms end=up:#3+33", "body of kind 7"},
		{tcp.Driver{}, "connection=2 end=up:300", "large"},
		{unixdriver.Driver{}, "connection=1 end=up:#2+9", "header tag of kind 7"},
		{shm.Driver{}, "connection=1 end=up:#1+1", "frame"},
	} {
		plan, err := Parse(c.plan)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var proxies []*Proxy
		d := Behind{Inner: c.inner, Tell: Through(plan, func(own int, p *Proxy) {
			mu.Lock()
			defer mu.Unlock()
			proxies = append(proxies, p)
		})}
		a, b := drivertest.Open(t, d, drivertest.Config(0)), drivertest.Open(t, d, drivertest.Config(1))
		go func() {
			if _, l, err := a.Accept(t.Context()); err == nil {
				t.Cleanup(func() { _ = l.Close() })
			}
		}()
		if l, err := b.Dial(t.Context(), 0, a.Addr()); err == nil {
			for i := range 4 {
				_, _ = l.Send(&driver.Header{Kind: 7, Body: uint32(i)}, make([]byte, i), nil, false)
			}
			_, _ = l.Push(make([]byte, 1000))
			for range 1000 {
				var h driver.Header
				if _, _, err := l.Recv(&h); err != nil || len(proxies[0].Log()) > 0 {
					break
				}
				_, _ = unix.Poll(nil, 5)
			}
			_ = l.Close()
		}
		var all []Alteration
		for _, p := range proxies {
			all = append(all, p.Log()...)
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		if !slices.ContainsFunc(all, func(x Alteration) bool { return x.Places[c.place] != 0 && x.Proven }) {
			t.Errorf("%s, %s: %+v, want %q", c.inner.Name(), c.plan, all, c.place)
		}
	}
}
