package am_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/am"
	"github.com/pm2-go/pm2/nmad/rma"
)

func Example() {
	main := func() {
		s, err := nmad.Open(context.Background(), nmad.Config{Size: 1}) // or nmad.Join, of a job
		w, err2 := am.Open(s, am.Config{})
		if err := errors.Join(err, err2); err != nil {
			panic(err)
		}
		err = w.Handle(1, func(t *am.Token, args []uint64, body []byte) { _ = t.Reply([]uint64{args[0] + 1}, body) })
		var r am.Reply
		err2 = w.Default().RequestFor(&r, 0, 1, []uint64{41}, []byte("hello"))
		args, body, err3 := r.Wait()
		fmt.Println(args, string(body), errors.Join(err, err2, err3, w.Close(), s.Close()))
	}
	main()
	// Output: [42] hello <nil>
}

// A long request: its body is put into memory that the target has given a Ref to, before the handler runs.
func ExampleDomain_RequestLong() {
	s, err := nmad.Open(context.Background(), nmad.Config{Size: 1})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	memory, err := rma.Open(s)
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	w, err := am.Open(s, am.Config{Memory: memory})
	if err != nil {
		panic(err)
	}
	defer w.Close()
	rows, err := memory.Alloc(1 << 20) // at each process
	if err != nil {
		panic(err)
	}
	err = w.Handle(1, func(t *am.Token, args []uint64, body []byte) {
		fmt.Printf("row %d: %s, at %d\n", args[0], body, len(rows.Bytes())-cap(rows.Bytes()[1000:]))
		_ = t.Reply(nil, nil)
	})
	var r am.Reply
	err2 := w.Default().RequestLong(&r, rows.At(0, 1000), 1, []uint64{7}, []byte("all of it"), nil)
	_, _, err3 := r.Wait()
	fmt.Println(string(rows.Bytes()[1000:1009]), err, err2, err3)
	// Output:
	// row 7: all of it, at 1000
	// all of it <nil> <nil> <nil>
}

// A function that other processes call.
func ExampleWorld_Call() {
	s, err := nmad.Open(context.Background(), nmad.Config{Size: 1})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	w, err := am.Open(s, am.Config{})
	if err != nil {
		panic(err)
	}
	defer w.Close()
	err = w.Serve("greet", func(_ context.Context, from int, args []byte) ([]byte, error) {
		return fmt.Appendf(nil, "hello %s of rank %d", args, from), nil
	})
	answer, err2 := w.Call(context.Background(), 0, "greet", []byte("Ann"))
	fmt.Println(string(answer), err, err2)
	// Output: hello Ann of rank 0 <nil> <nil>
}
