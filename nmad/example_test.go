package nmad_test

import (
	"context"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
)

// alone opens a job of one process, which sends to itself: all calls are the same
// between processes that demo run, or any launcher, has started.
func alone() *nmad.Session {
	s, err := nmad.Open(context.Background(), nmad.Config{Size: 1})
	if err != nil {
		panic(err)
	}
	return s
}

// A receive from any rank, with any tag whose high byte is 7.
func ExampleSession_Recv() {
	s := alone()
	defer s.Close()
	s.Gate(0).Isend(0x0701, []byte("hello"))

	buf := make([]byte, 100)
	e, err := s.Recv(nmad.Match{Tag: 0x0700, Mask: 0xff00}, buf)
	fmt.Printf("rank %d, tag %#x: %s, %v\n", e.Source, e.Tag, buf[:e.Size], err)
	// Output: rank 0, tag 0x701: hello, <nil>
}

// A message in a buffer of the gate: between two processes of one host a receive that takes loans reads it where
// the sender has written it. Everywhere else, as here, it goes into buf, and the program is the same.
func ExampleGate_Alloc() {
	s := alone()
	defer s.Close()
	g := s.Gate(0)

	b, err := g.Alloc(1 << 16)
	if err != nil {
		panic(err) // ErrNoRoom: too much is loaned already
	}
	n := copy(b.Bytes(), "written once")
	send := g.Start(&nmad.Operation{Match: nmad.Tag(3), Buffer: b.First(n)})
	b.Release() // goes when the send is done

	buf := make([]byte, 1<<16)
	receive := g.Start(&nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(3), Buf: buf, Loan: true})
	err = receive.Wait()
	loan := receive.Loan()
	fmt.Println(string(loan.Bytes()), err)
	loan.Release() // the sender waits for this
	fmt.Println(send.Wait(), loan.Bytes() == nil)
	// Output:
	// written once <nil>
	// <nil> true
}

// The buffer is chosen when it is known how long the message is.
func ExampleGate_Claim() {
	s := alone()
	defer s.Close()
	g := s.Gate(0)
	g.Isend(3, []byte("as long as it likes"))

	if m := g.Claim(nmad.Tag(3)); m != nil {
		buf := make([]byte, m.Size)
		n, err := m.Recv(buf)
		fmt.Println(n, string(buf), err)
	}
	// Output: 19 as long as it likes <nil>
}

// The same with a callback, which also hears of the end.
func ExampleGate_Post() {
	s := alone()
	defer s.Close()
	g := s.Gate(0)

	var r nmad.Request
	var buf []byte
	g.Post(&r, &nmad.Operation{
		Kind:   nmad.KindRecv,
		Match:  nmad.Tag(3),
		Choose: func(e nmad.Envelope) []byte { buf = make([]byte, e.Size); return buf },
		Done:   func(r *nmad.Request) { fmt.Println("done:", string(buf[:r.Len()])) },
	})
	g.Send(3, []byte("late choice"))
	// Output: done: late choice
}

// A message that lies in several places, and goes to several.
func ExamplePack() {
	s := alone()
	defer s.Close()
	g := s.Gate(0)

	var p nmad.Pack
	p.Add([]byte("head")).Copy([]byte("body, ")).Add([]byte("and more"))
	g.Start(&nmad.Operation{Match: nmad.Tag(1), Parts: p.Parts()})

	head, body := make([]byte, 4), make([]byte, 14)
	err := g.Start(&nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(1), Parts: [][]byte{head, body}}).Wait()
	fmt.Println(string(head), "|", string(body), err)
	// Output: head | body, and more <nil>
}

// The second column of a matrix, received as a row.
func ExampleVector() {
	s := alone()
	defer s.Close()
	g := s.Gate(0)

	matrix := []byte("abc" + "def" + "ghi")
	column, err := nmad.NewVector(matrix[1:], 3, 1, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	g.Start(&nmad.Operation{Match: nmad.Tag(1), Data: column})

	row := make([]byte, 3)
	_, err = g.Recv(1, row)
	fmt.Println(string(row), err)
	// Output: beh <nil>
}

// A message says in its first byte how long the name in it is.
func ExampleGate_Peek() {
	s := alone()
	defer s.Close()
	g := s.Gate(0)
	g.Isend(1, []byte("\x04namebody"))

	head := make([]byte, 1)
	e, n, found := g.Peek(nmad.Tag(1), head)
	name, body := make([]byte, head[0]), make([]byte, int(e.Size)-1-int(head[0]))
	err := g.Start(&nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(1), Parts: [][]byte{head, name, body}}).Wait()
	fmt.Println(found, n, string(name), string(body), err)
	// Output: true 1 name body <nil>
}

// Whichever of several receives is done first.
func ExampleWaitAny() {
	s := alone()
	defer s.Close()
	g := s.Gate(0)
	a, b := g.Irecv(1, nil), g.Irecv(2, nil)
	g.Send(2, nil)

	i, err := nmad.WaitAny(context.Background(), a, b)
	fmt.Println(i, err, a.Cancel())
	// Output: 1 <nil> true
}

// Requests come out of a completion queue in the order in which they are done.
func ExampleQueue() {
	s := alone()
	defer s.Close()
	g, q := s.Gate(0), s.NewQueue()
	var in [3]nmad.Request
	for i := range in {
		g.Post(&in[i], &nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(uint64(i)), Queue: q})
	}
	for _, tag := range []uint64{2, 0, 1} {
		g.Send(tag, nil)
	}
	for range in {
		r, err := q.Wait()
		if err != nil {
			panic(err)
		}
		fmt.Print(r.Tag(), " ")
	}
	// Output: 2 0 1
}

// A synchronous send is done when its receive is there.
func ExampleGate_Start() {
	s := alone()
	defer s.Close()
	g := s.Gate(0)
	r := g.Start(&nmad.Operation{Match: nmad.Tag(1), Buf: []byte("x"), Sync: true})
	early, _ := r.Test()
	g.Recv(1, make([]byte, 1))
	fmt.Println(early, r.Wait())
	// Output: false <nil>
}

// Which messages take which protocol.
func ExampleGate_Info() {
	s := alone()
	defer s.Close()
	for _, p := range s.Gate(0).Info().Protocols {
		fmt.Println(p.From, p.Name, p.Rail)
	}
	// Output:
	// 0 eager self
	// 16385 rendezvous self
}

// What a program does when processes may die: each step ends with an agreement, and those that are
// left begin it anew when it has failed somewhere. All see the same answer, so all do the same.
func ExampleSession_Agree() {
	s := alone()
	defer s.Close()
	ctx := context.Background()

	step := func(g *nmad.Group) error { // a ring, among those that are left
		next := g.Gate((g.Rank() + 1) % g.Size())
		next.Isend(1, []byte("from my left"))
		buf := make([]byte, 12)
		_, err := g.Gate((g.Rank()+g.Size()-1)%g.Size()).Recv(1, buf)
		return err
	}
	for {
		group, err := s.Shrink(ctx)
		if err != nil {
			fmt.Println(err) // ErrExcluded: the others go on without this process
			return
		}
		succeeded := uint64(1)
		if step(group) != nil {
			succeeded = 0
		}
		all, err := s.Agree(ctx, succeeded)
		if err != nil {
			fmt.Println(err)
			return
		}
		if all.Value == 1 {
			fmt.Printf("done by %d, lost: %v\n", group.Size(), all.Failed)
			return
		}
	}
	// Output: done by 1, lost: []
}
