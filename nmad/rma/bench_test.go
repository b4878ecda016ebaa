package rma

import (
	"fmt"
	"testing"

	"github.com/pm2-go/pm2/nmad"
)

// Initiator costs, to memory of another process that is mapped (it is one of this process here, whose other mapping
// is not touched).
func BenchmarkMapped(b *testing.B) {
	worlds := job(b, "shm", 2, options{})
	var s [2]*Segment
	each(b, worlds, func(w *World) (err error) {
		s[w.Rank()], err = w.Alloc(4 << 20)
		return err
	})
	for _, kind := range []nmad.Access{nmad.Shared, nmad.Private} {
		d, err := worlds[0].Domain(DomainConfig{Access: kind})
		if err != nil {
			b.Fatal(err)
		}
		at := s[0].At(1, 64)
		buf := make([]byte, 1<<20+64)
		run := func(name string, bytes int, f func() error) {
			b.Run(fmt.Sprint(kind, "/", name), func(b *testing.B) {
				if kind == nmad.Private {
					d, _ = worlds[0].Domain(DomainConfig{Access: kind})
				}
				if bytes > 0 {
					b.SetBytes(int64(bytes))
				}
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		for _, n := range []int{8, 2048, 65536, 1 << 20} {
			run(fmt.Sprint("put ", n), n, func() error { return d.Put(at, buf[:n]) })
			run(fmt.Sprint("get ", n), n, func() error { return d.Get(buf[:n], at) })
		}
		run("put 8 flush", 0, func() error { d.PutNBI(at, buf[:8]); return d.Flush(1) })
		run("get 8 flush", 0, func() error { d.GetNBI(buf[:8], at); return d.Flush(1) })
		run("fetch add", 0, func() error { _, err := Fetch(d, Add, at, int64(1)); return err })
		run("fetch max float64", 0, func() error { _, err := Fetch(d, Max, at, 1.0); return err })
		run("cas", 0, func() error { _, err := CompareAndSwap(d, at, uint64(1), 2); return err })
		run("load", 0, func() error { _, err := Load[uint64](d, at); return err })
		run("signal 8", 0, func() error { return d.PutSignal(at, buf[:8], at.Add(8), SignalAdd, 1) })
		var e Event
		run("put nb 8", 0, func() error { d.PutNB(at, buf[:8], nil, &e); return e.Wait() })
	}
	to := s[0].Bytes()
	from := make([]byte, 1<<20+64)
	for _, off := range []int{0, 1, 8, 33} {
		b.Run(fmt.Sprint("plain copy 1M+", off), func(b *testing.B) {
			b.SetBytes(1 << 20)
			for b.Loop() {
				copy(to[off:][:1<<20], from)
			}
		})
		b.Run(fmt.Sprint("put 1M+", off), func(b *testing.B) {
			b.SetBytes(1 << 20)
			for b.Loop() {
				_ = worlds[0].Default().Put(s[0].At(1, uint64(off)), from[:1<<20])
			}
		})
	}
}
