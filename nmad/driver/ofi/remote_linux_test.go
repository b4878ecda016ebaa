//go:build ofi && cgo

package ofi

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/drivertest"
)

// turn lets both ends of a link look at what has come.
func turn(a, b *link) {
	var h driver.Header
	_, _, _ = a.Recv(&h)
	_, _, _ = b.Recv(&h)
}

// remotely has a put to, or get from, what b has exposed, and waits for its end.
func remotely(t *testing.T, a, b *link, put bool, buf []byte, key driver.RemoteKey, offset uint64) error {
	t.Helper()
	over, failed := false, error(nil)
	o := &driver.RemoteOp{Put: put, Buf: buf, Key: key, Offset: offset, Done: func(err error) { over, failed = true, err }}
	for end := time.Now().Add(drivertest.Patience); !over; turn(a, b) {
		if o.Buf != nil && a.StartRemote(o) {
			o = &driver.RemoteOp{}
		}
		if time.Now().After(end) {
			t.Fatalf("it does not end; %v; %v", a, b)
		}
	}
	return failed
}

// TestRemoteMemory: puts and gets of all lengths at all offsets, also in pieces; once the memory is taken back the
// link breaks at a put.
func TestRemoteMemory(t *testing.T) {
	for name, d := range map[string]Driver{"tcp": {provider: "tcp"}, "local": {provider: "tcp", local: true}} {
		t.Run(name, func(t *testing.T) {
			a, b := linked(t, d)
			a.port.f.most = 100_000
			memory := make([]byte, 1<<20)
			x, err := b.Expose(memory)
			if err != nil {
				t.Fatal(err)
			}
			if a.Caps().Remote == 0 {
				t.Error("the link does not tell of its remote memory")
			}
			draw := rand.New(rand.NewPCG(1, 2))
			for _, n := range []int{1, 8, 4095, 4096, 99_999, 100_000, 100_001, 345_678} {
				for _, offset := range []uint64{0, 1, 4095, uint64(len(memory) - n)} {
					src, got := make([]byte, n), make([]byte, n)
					for i := range src {
						src[i] = byte(draw.Uint32())
					}
					if err := errors.Join(remotely(t, a, b, true, src, x.Key(), offset), remotely(t, a, b, false, got, x.Key(), offset)); err != nil {
						t.Fatalf("%d B at %d: %v", n, offset, err)
					}
					if !bytes.Equal(src, got) || !bytes.Equal(src, memory[offset:][:n]) {
						t.Fatalf("%d B at %d: other bytes", n, offset)
					}
				}
			}
			x.Close(false)
			if err := remotely(t, a, b, true, make([]byte, 9000), x.Key(), 0); !errors.Is(err, driver.ErrPeerLost) {
				t.Errorf("a put to memory that was taken back: %v", err)
			}
			if a.StartRemote(&driver.RemoteOp{Buf: make([]byte, 9000), Key: x.Key(), Done: func(error) {}}) {
				t.Error("a get over a link that is lost")
			}
			if a.transfers != 0 || len(a.port.waiting) != 0 || a.port.moving != 0 {
				t.Errorf("%d transfers are left, %d wait, %d move", a.transfers, len(a.port.waiting), a.port.moving)
			}
		})
	}
}

// TestShutOut: memory is taken back from a peer that is lost, in the middle of a put: then no byte comes there any
// more, and the put fails. So do puts that wait for the provider.
func TestShutOut(t *testing.T) {
	for _, byLink := range []bool{false, true} {
		a, b := linked(t, Driver{provider: "tcp"})
		memory := make([]byte, 64<<20)
		x, err := b.Expose(memory)
		if err != nil {
			t.Fatal(err)
		}
		ends := 0
		src := bytes.Repeat([]byte{1}, len(memory))
		for range maxTransfers + 2 {
			o := &driver.RemoteOp{Put: true, Buf: src, Key: x.Key(), Done: func(err error) {
				if ends++; !errors.Is(err, driver.ErrPeerLost) {
					t.Errorf("it ends with %v", err)
				}
			}}
			for !a.StartRemote(o) {
				turn(a, b)
			}
		}
		for memory[1<<20] == 0 {
			turn(a, b)
		}
		if byLink {
			_ = b.Close()
			for b.port.links[b.number] == b {
				time.Sleep(time.Millisecond)
			}
		} else {
			x.Close(true)
		}
		clear(memory)
		for end := time.Now().Add(drivertest.Patience); ends < maxTransfers+2; turn(a, b) {
			if time.Now().After(end) {
				t.Fatalf("%d puts have ended", ends)
			}
		}
		for began := time.Now(); time.Since(began) < 20*time.Millisecond; turn(a, b) {
		}
		if !bytes.Equal(memory, make([]byte, len(memory))) {
			t.Errorf("by its link %v: bytes have come to memory that was taken back", byLink)
		}
	}
}
