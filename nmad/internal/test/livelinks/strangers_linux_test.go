package livelinks

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/test/proxy"
	"github.com/pm2-go/pm2/pioman"
)

// strangerBytes is what a connection may cost until it has proven that it belongs to the job: two goroutines, and a frame
// of the exchange. What it says of the length of anything buys no more.
const strangerBytes = 16 << 10

// TestStrangersMemory: strangers that announce as much as a length can say, at the rendezvous and at the endpoints of each
// network, take no memory to speak of.
func TestStrangersMemory(t *testing.T) {
	head := func(kind byte, size int) []byte { // of an exchange on a link
		return binary.LittleEndian.AppendUint16([]byte{kind}, uint16(size))
	}
	claim := []byte("PM2C\x05\x00\x00\x00")
	words := [][]byte{
		nil, {0}, head(0xA1, 512), head(0xA1, 1<<16-1), head(0xA3, 512), head(0xB0, 44), append(head(0xA1, 512), make([]byte, 500)...),
		claim, append(claim, make([]byte, 70)...), {255, 255, 255, 255, 2, 0, 0, 0},
	}
	for _, name := range []string{"tcp", "unix", "shm"} {
		t.Run(name, func(t *testing.T) {
			inner, err := driver.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			told := make(chan string, 1)
			ctx, cancel := context.WithCancel(t.Context())
			opened := make(chan error, 1)
			engine := pioman.New(pioman.Config{})
			defer engine.Close()
			go func() {
				_, err := nmad.Open(ctx, nmad.Config{
					Size: 2, Listener: ln, Secret: make([]byte, 32), Engine: engine,
					Custom: proxy.Behind{Inner: inner, Tell: func(_ driver.Config, addr string) (string, func() error, error) {
						told <- addr
						return addr, nil, nil
					}},
				})
				opened <- err
			}()
			doors := []string{ln.Addr().String(), <-told}
			const each = 3
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var conns []net.Conn
			for _, door := range doors {
				network := "tcp"
				if strings.HasPrefix(door, "@") {
					network = "unix"
				}
				for i := range each * len(words) {
					c, err := net.Dial(network, door)
					if err != nil {
						t.Fatal(err)
					}
					_, _ = c.Write(words[i%len(words)]) // it may have been turned away
					conns = append(conns, c)
				}
			}
			most := uint64(0)
			for range 20 {
				time.Sleep(10 * time.Millisecond)
				runtime.ReadMemStats(&after)
				most = max(most, after.HeapAlloc+after.StackInuse-min(after.HeapAlloc+after.StackInuse, before.HeapAlloc+before.StackInuse))
			}
			taken := after.TotalAlloc - before.TotalAlloc
			if limit := uint64(len(conns)) * strangerBytes; most > limit || taken > limit {
				t.Errorf("%d strangers take %d bytes, and took %d in all; at most %d", len(conns), most, taken, limit)
			}
			t.Logf("%d strangers take %d bytes, and took %d in all", len(conns), most, taken)
			for _, c := range conns {
				_ = c.Close()
			}
			cancel()
			if err := <-opened; !errors.Is(err, context.Canceled) {
				t.Errorf("Open: %v", err)
			}
		})
	}
}
