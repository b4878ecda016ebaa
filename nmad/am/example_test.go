package am_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/am"
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
		args, body, err3 := r.Wait(context.Background())
		fmt.Println(args, string(body), errors.Join(err, err2, err3, w.Close(), s.Close()))
	}
	main()
	// Output: [42] hello <nil>
}

// A function that other processes call.
func ExampleCall() {
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
	answer, err2 := am.Call(context.Background(), w, 0, "greet", []byte("Ann"))
	fmt.Println(string(answer), err, err2)
	// Output: hello Ann of rank 0 <nil> <nil>
}
