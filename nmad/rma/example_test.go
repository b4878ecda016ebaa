package rma_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/rma"
)

// alone opens the World of a job of one process, which reaches its own memory: all calls are the same between
// processes that demo run, or any launcher, has started.
func alone() *rma.World {
	s, err := nmad.Open(context.Background(), nmad.Config{Size: 1})
	if err != nil {
		panic(err)
	}
	w, err := rma.Open(s)
	if err != nil {
		panic(err)
	}
	return w
}

// Each process puts into the part of the next one, and waits for what the one before has put.
func Example() {
	w := alone()
	defer w.Session().Close()
	s, err := w.Alloc(1 << 20)
	if err != nil {
		panic(err)
	}
	d, next := w.Default(), (w.Rank()+1)%w.Size()
	if err := d.PutSignal(s.At(next, 64), []byte("hello"), s.At(next, 0), rma.SignalAdd, 1); err != nil {
		panic(err)
	}
	n, err := d.WaitSignal(context.Background(), s.At(w.Rank(), 0), rma.GE, 1)
	fmt.Println(n, string(s.Bytes()[64:69]), err)
	fmt.Println(s.Free(), w.Close())
	// Output:
	// 1 hello <nil>
	// <nil> <nil>
}

// A counter at rank 0, from which all processes draw.
func ExampleFetch() {
	w := alone()
	defer w.Session().Close()
	s, err := w.Alloc(8)
	if err != nil {
		panic(err)
	}
	for range 3 {
		mine, err := rma.Fetch(w.Default(), rma.Add, s.At(0, 0), int64(1))
		fmt.Println(mine, err)
	}
	fmt.Println(w.Close())
	// Output:
	// 0 <nil>
	// 1 <nil>
	// 2 <nil>
	// <nil>
}

// Memory of the program's own, named by a reference that travels in a message.
func ExampleWorld_Register() {
	w := alone()
	defer w.Session().Close()
	results := make([]byte, 16)
	r, err := w.Register(results)
	if err != nil {
		panic(err)
	}
	message, _ := r.Ref(4).AppendBinary(nil)

	at, err := rma.ParseRef(message) // at another process
	d := w.Default()
	fmt.Println(err, d.Put(at, []byte("done")), string(results[4:8]))
	fmt.Println(errors.Is(d.Put(at, make([]byte, 13)), rma.ErrRange))
	_ = r.Close()
	fmt.Println(errors.Is(d.Put(at, []byte("late")), rma.ErrKey), w.Close())
	// Output:
	// <nil> <nil> done
	// true
	// true <nil>
}

// Puts that go on while the program computes.
func ExampleDomain_PutNB() {
	w := alone()
	defer w.Session().Close()
	s, err := w.Alloc(4096)
	if err != nil {
		panic(err)
	}
	d, err := w.Domain(rma.DomainConfig{Access: nmad.Private}) // of this goroutine alone
	if err != nil {
		panic(err)
	}
	var local, remote rma.Event
	err = d.PutNB(s.At(0, 0), []byte("abc"), &local, &remote)
	// compute
	fmt.Println(err, local.Wait(), remote.Wait())
	fmt.Println(string(s.Bytes()[:3]))
	fmt.Println(w.Close())
	// Output:
	// <nil> <nil> <nil>
	// abc
	// <nil>
}
