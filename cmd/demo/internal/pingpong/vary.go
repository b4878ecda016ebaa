package pingpong

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/cmd/demo/internal/pattern"
	"github.com/pm2-go/pm2/nmad"
)

// What Options.Vary can hold: how a program may differ from one that does its best.
const (
	Plain = "plain" // requests of Isend and Irecv, made anew for each message
	Fresh = "fresh" // buffers that are made anew for each message, and were never touched where bytes are received
	Busy  = "busy"  // goroutines that compute in both ranks, one for each P
)

func (o *Options) varies(how string) bool { return slices.Contains(o.Vary, how) }

// checkVary says what is wrong with them.
func (o *Options) checkVary() error {
	for _, how := range o.Vary {
		if how != Plain && how != Fresh && how != Busy {
			return fmt.Errorf("--vary %q: choose from plain, fresh and busy, with commas between", how)
		}
	}
	if (o.varies(Plain) || o.varies(Fresh)) && (o.Window > 0 || o.Both || o.Loan) {
		return fmt.Errorf("--vary: plain and fresh are for messages there and back: leave --window, --bidirectional and --loan out")
	}
	return nil
}

// plain is a Wire over requests that are made for each message.
type plain struct{ gate *nmad.Gate }

func (pl plain) Send(tag uint64, buf []byte) error { return pl.gate.Isend(tag, buf).Wait() }

func (pl plain) Recv(tag uint64, buf []byte) (int, error) {
	r := pl.gate.Irecv(tag, buf)
	err := r.Wait()
	return r.Len(), err
}

// renew makes the buffers of the next message, outside of the time.
func (x *exchange) renew() {
	if x.fresh {
		x.send, x.recv = pattern.New(len(x.send), x.at.Send), pattern.New(len(x.recv), x.at.Receive)
	}
}

// compute keeps goroutines busy, one for each P, until stop.
func compute() (stop func()) {
	var over atomic.Bool
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for n := uint64(1); !over.Load(); {
				for range 1000 {
					n = n*6364136223846793005 + 1
				}
			}
		})
	}
	return func() { over.Store(true); all.Wait() }
}
