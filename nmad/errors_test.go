package nmad

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/pioman"
)

// TestErrorsNameThePackageOnce: also where one error wraps another one.
func TestErrorsNameThePackageOnce(t *testing.T) {
	s, err := Open(t.Context(), Config{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, probed := s.Probe(t.Context(), Tag(1))
	if !errors.Is(probed, ErrClosed) {
		t.Errorf("Probe after Close: %v", probed)
	}
	_, alone := Open(t.Context(), Config{Size: 2, Rendezvous: "127.0.0.1:0", Secret: make([]byte, 32), Timeout: 10 * time.Millisecond})
	if !errors.Is(alone, context.DeadlineExceeded) {
		t.Errorf("Open without the others: %v", alone)
	}
	for _, err := range []error{probed, alone, during("link to rank 3", &PeerError{Rank: 3, Err: ErrPeerLost, Reason: "x"})} {
		if text := err.Error(); !strings.HasPrefix(text, "nmad: ") || strings.Count(text, "nmad: ") != 1 || strings.Count(text, "rank 0") > 1 {
			t.Errorf("%q", text)
		}
	}
	if want := "rank 1, to be started with the same rendezvous address and secret"; !strings.Contains(alone.Error(), want) {
		t.Errorf("%q does not say %q", alone, want)
	}
}

// TestAbsent calls all that is exported with nil and zero values: each call says what is missing, or
// nothing, and the gates that exist work as before.
func TestAbsent(t *testing.T) {
	e := pioman.New(pioman.Config{})
	defer e.Close()
	var none context.Context
	s, err := Open(none, Config{Size: 1, Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	g := s.Gate(0)
	soon, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	data := &listed{nil, 0}
	gate := func(g *Gate, want error) map[string]func() error {
		one := func(_ any, err error) error { return err }
		return map[string]func() error{
			"Isend":      func() error { return g.Isend(1, nil).Wait() },
			"Irecv":      func() error { return g.Irecv(1, nil).Wait() },
			"IsendInto":  func() error { return g.IsendInto(&Request{}, 1, nil) },
			"IrecvInto":  func() error { return g.IrecvInto(&Request{}, 1, nil) },
			"Send":       func() error { return g.Send(1, nil) },
			"Recv":       func() error { _, err := g.Recv(1, nil); return err },
			"Post, send": func() error { return g.Post(&Request{}, &Operation{}) },
			"Post, recv": func() error { return g.Post(&Request{}, &Operation{Kind: KindRecv}) },
			"Start":      func() error { return g.Start(&Operation{Data: data}).Wait() },
			"Link":       func() error { return g.Link(none) },
			"Probe":      func() error { return one(g.Probe(none, Tag(1))) },
			"Sample":     func() error { return one(g.Sample(none)) },
			"SampleEcho": func() error { return g.SampleEcho(none) },
			"the rest": func() error {
				_, _, peeked := g.Peek(Tag(1), make([]byte, 4))
				if _, found := g.Iprobe(Tag(1)); found || peeked || g.Claim(Tag(1)) != nil {
					return errors.New("a message is there")
				}
				if x := g.Info(); x.Protocols != nil || x.Rails != nil || x.Exceptions != nil || x.Strategy != "" || g.Stats() != (Stats{}) {
					return errors.New("it is described")
				}
				_ = g.Rank()
				return want
			},
		}
	}
	session := func(s *Session) map[string]func() error {
		return map[string]func() error{
			"Post":     func() error { return s.Post(AnySource, &Request{}, &Operation{Kind: KindRecv}) },
			"Post, to": func() error { return s.Post(0, &Request{}, &Operation{}) },
			"Start":    func() error { return s.Start(AnySource, &Operation{Kind: KindRecv}).Wait() },
			"Irecv":    func() error { return s.Irecv(Tag(1), nil).Wait() },
			"Recv":     func() error { _, err := s.Recv(Tag(1), nil); return err },
			"Probe":    func() error { _, err := s.Probe(none, Tag(1)); return err },
			"Queue":    func() error { _, err := s.NewQueue().WaitContext(none); return err },
			"Gate": func() error {
				if err := s.Gate(0).Send(1, nil); !errors.Is(err, ErrRank) {
					return err
				}
				return ErrClosed
			},
			"the rest": func() error {
				_, _, peeked := s.Peek(Tag(1), make([]byte, 4))
				if _, found := s.Iprobe(Tag(1)); found || peeked || s.Claim(Tag(1)) != nil {
					return errors.New("a message is there")
				}
				s.Monitor(SendDone, nil)()
				s.Monitor(SendDone, func(Event) {})()
				_, _, _, _ = s.Rank(), s.Size(), s.Host(), s.Stats()
				if err := s.Close(); err != nil {
					return err
				}
				return ErrClosed
			},
		}
	}
	tables := map[string]struct {
		want  error
		calls map[string]func() error
	}{
		"no gate":        {ErrRank, gate(nil, ErrRank)},
		"a zero gate":    {ErrRank, gate(&Gate{}, ErrRank)},
		"no session":     {ErrClosed, session(nil)},
		"a zero session": {ErrClosed, session(&Session{})},
		"no operation": {ErrConfig, map[string]func() error{
			"Post":              func() error { return g.Post(&Request{}, nil) },
			"Start":             func() error { return g.Start(nil).Wait() },
			"from any":          func() error { return s.Post(AnySource, &Request{}, nil) },
			"to a rank":         func() error { return s.Post(0, &Request{}, nil) },
			"no kind":           func() error { return g.Post(&Request{}, &Operation{Kind: KindRecv + 1}) },
			"a receive, sync":   func() error { return g.Post(&Request{}, &Operation{Kind: KindRecv, Sync: true}) },
			"a send that loans": func() error { return g.Post(&Request{}, &Operation{Loan: true}) },
			"a send to any":     func() error { return s.Post(0, &Request{}, &Operation{Loan: true}) },
			"send, no request":  func() error { return g.Post(nil, &Operation{}) },
			"recv, no request":  func() error { return g.Post(nil, &Operation{Kind: KindRecv}) },
			"any, no request":   func() error { return s.Post(AnySource, nil, &Operation{Kind: KindRecv}) },
			"Isend, no request": func() error { return g.IsendInto(nil, 1, nil) },
			"Irecv, no request": func() error { return g.IrecvInto(nil, 1, nil) },
		}},
		"no request": {ErrNotStarted, requestCalls(nil)},
		"a zero one": {ErrNotStarted, requestCalls(&Request{})},
		"no message": {ErrNotStarted, map[string]func() error{
			"Recv":  func() error { _, err := (*Message)(nil).Recv(nil); return err },
			"Irecv": func() error { return (&Message{}).Irecv(nil).Wait() },
			"Start": func() error { return (&Message{}).Start(&Operation{Kind: KindRecv}).Wait() },
			"Peek": func() error {
				if (*Message)(nil).Peek(nil) != 0 || (&Message{}).Peek(make([]byte, 1)) != 0 {
					return errors.New("it has something to show")
				}
				return ErrNotStarted
			},
		}},
		"no queue": {ErrClosed, map[string]func() error{
			"nil": func() error {
				q := (*Queue)(nil)
				if q.Pop() != nil || q.Len() != 0 {
					return errors.New("it is not empty")
				}
				_, err := q.WaitContext(none)
				return err
			},
			"zero": func() error {
				q := &Queue{}
				if q.Pop() != nil || q.Len() != 0 {
					return errors.New("it is not empty")
				}
				_, err := q.WaitContext(none)
				return err
			},
		}},
		"no context": {nil, map[string]func() error{
			"WaitContext": func() error { return g.Isend(2, nil).WaitContext(none) },
			"WaitAll":     func() error { return WaitAll(none, nil, g.Isend(5, nil), g.Irecv(5, nil)) },
			"WaitAny":     func() error { _, err := WaitAny(none, nil, g.Isend(6, nil), g.Irecv(6, nil)); return err },
			"Probe": func() error {
				r := g.Isend(3, []byte("x"))
				_, err := g.Probe(none, Tag(3))
				return errors.Join(err, r.Wait())
			},
			"Queue": func() error {
				q := s.NewQueue()
				err := g.Post(&Request{}, &Operation{Match: Tag(4), Queue: q})
				_, werr := q.WaitContext(none)
				return errors.Join(err, werr)
			},
		}},
	}
	for name, table := range tables {
		for call, f := range table.calls {
			if err := f(); !errors.Is(err, table.want) {
				t.Errorf("%s, %s: %v, want %v", name, call, err, table.want)
			}
		}
	}
	sent := g.Isend(9, []byte("still"))
	buf := make([]byte, 5)
	if err := errors.Join(g.Irecv(9, buf).WaitContext(soon), sent.WaitContext(soon)); err != nil || string(buf) != "still" {
		t.Errorf("after all of that: %q, %v", buf, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func requestCalls(r *Request) map[string]func() error {
	var none context.Context
	return map[string]func() error{
		"Test":        func() error { _, err := r.Test(); return err },
		"Wait":        func() error { return r.Wait() },
		"WaitContext": func() error { return r.WaitContext(none) },
		"the rest": func() error {
			if r.Cancel() || r.Len() != 0 || r.Tag() != 0 || r.Size() != 0 || r.Source() > 0 || r.Envelope().Size != 0 {
				return errors.New("it says something")
			}
			if !r.Case().(interface{ Try() bool }).Try() {
				return errors.New("its case waits for something")
			}
			return ErrNotStarted
		},
	}
}
