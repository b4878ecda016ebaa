package rma

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
)

// TestSignalOrdersBytes: the race detector finds no race between the writer of bytes that are Go's and a thread that
// reads them once it has seen their signal, whose word lies in mapped memory. Without -race it looks at the bytes only.
func TestSignalOrdersBytes(t *testing.T) {
	s, err := nmad.Open(context.Background(), nmad.Config{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := Open(s)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	words, err := w.Alloc(16)
	if err != nil {
		t.Fatal(err)
	}
	bytes := make([]byte, 64)
	g, err := w.Register(bytes)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	d, there, read := w.Default(), words.At(0, 0), words.At(0, 8)
	is := func(sig Ref, i uint64) bool {
		_, is, err := d.TestSignal(sig, GE, i)
		if err != nil {
			t.Error(err)
		}
		runtime.Gosched()
		return is || err != nil
	}
	const rounds = 100
	var wg sync.WaitGroup
	wg.Go(func() { // it polls nothing, which would order the two by other means
		for i := uint64(1); i <= rounds; i++ {
			if i%2 == 0 {
				for !is(there, i) {
				}
			} else if time.Sleep(time.Millisecond); !is(there, i) {
				_, _ = d.WaitSignal(context.Background(), there, GE, i)
			}
			if bytes[5] != byte(i) {
				t.Errorf("byte %d after signal %d", bytes[5], i)
			}
			if err := d.PutSignal(read, nil, read, SignalAdd, 1); err != nil {
				t.Error(err)
			}
		}
	})
	for i := uint64(1); i <= rounds; i++ {
		if err := d.PutSignal(g.Ref(5), []byte{byte(i)}, there, SignalAdd, 1); err != nil {
			t.Error(err)
		}
		for !is(read, i) {
		}
	}
	wg.Wait()
}
