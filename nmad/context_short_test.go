package nmad

import (
	"bytes"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
)

// TestOrderInContexts: messages of a context that go the short way keep their order among each other and beside those
// of Post, whatever their size and where their buffers begin, to exact receives of both kinds and to such for any tag
// and any source; from a goroutine, one locked to its OS thread, and a thread; other contexts get none of them.
func TestOrderInContexts(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.close()
		defer j.assisted(d)()
		s, stop := oneVP(t)
		defer stop()
		sizes := []int{0, 1, 61, 4096, 50_001}
		var all sync.WaitGroup
		for n, call := range map[int]func(func()){
			2: func(f func()) { f() },
			3: func(f func()) { runtime.LockOSThread(); f(); runtime.UnlockOSThread() },
			4: func(f func()) { marcel.RunOn(s, f) },
		} {
			contexts := [2]*Context{openIn(t, j, 0, n, 0, 1), openIn(t, j, 1, n, 0, 1)}
			const rounds = 60
			all.Go(func() { call(func() { inOrder(t, contexts[0], rounds, sizes, sendsInTurn) }) })
			all.Go(func() { call(func() { inOrder(t, contexts[1], rounds, sizes, receivesInTurn) }) })
		}
		all.Wait()
	})
}

func openIn(t *testing.T, j *job, rank, number int, ranks ...int) *Context {
	t.Helper()
	c, err := j.sessions[rank].OpenContext(number, ranks...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// inOrder has one side move message after message, each in another way.
func inOrder(t *testing.T, c *Context, rounds int, sizes []int, move func(c *Context, r *Request, i int, buf []byte) error) {
	var r Request
	memory := make([]byte, 60_000)
	for i := range rounds {
		n := sizes[i%len(sizes)]
		if err := move(c, &r, i, memory[i%17:][:n]); err != nil {
			t.Errorf("context %d, message %d of %d bytes: %v", c.number, i, n, err)
			return
		}
	}
}

func sendsInTurn(c *Context, r *Request, i int, buf []byte) error {
	copy(buf, pattern(len(buf), uint64(i)))
	switch i % 3 {
	case 0:
		return c.Send(1, 7, buf)
	case 1:
		if err := c.IsendInto(r, 1, 7, buf); err != nil {
			return err
		}
	case 2:
		m := Tag(7)
		m.Context = c
		if err := c.domain.Post(1, r, &Operation{Match: m, Buf: buf, Sync: i%2 == 0}); err != nil {
			return err
		}
	}
	return r.Wait()
}

func receivesInTurn(c *Context, r *Request, i int, buf []byte) error {
	clear(buf)
	var size uint64
	switch i % 4 {
	case 0:
		e, err := c.Recv(0, 7, buf)
		if err != nil {
			return err
		}
		size = e.Size
	case 1:
		if err := c.IrecvInto(r, 0, 7, buf); err != nil {
			return err
		}
	case 2: // any tag
		if err := c.domain.Post(0, r, &Operation{Kind: KindRecv, Match: Match{Context: c}, Buf: buf}); err != nil {
			return err
		}
	case 3:
		m := Tag(7)
		m.Context = c
		if err := c.domain.Post(AnySource, r, &Operation{Kind: KindRecv, Match: m, Buf: buf}); err != nil {
			return err
		}
	}
	if i%4 != 0 {
		if err := r.Wait(); err != nil {
			return err
		}
		size = r.Envelope().Size
	}
	if int(size) != len(buf) || !bytes.Equal(buf, pattern(len(buf), uint64(i))) {
		return errors.New("it is another one, or damaged")
	}
	return nil
}

// TestWaitInContextWrong: what cannot be is an error, and a peer that ends in the middle ends the short calls of its
// contexts.
func TestWaitInContextWrong(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 3, d, nil)
		c, other := openIn(t, j, 0, 9, 0, 1), openIn(t, j, 1, 9, 0, 1)
		var r Request
		for what, x := range map[string]struct{ got, want error }{
			"no context":       {(*Context)(nil).Send(1, 0, nil), ErrConfig},
			"not in the group": {c.Send(2, 0, nil), ErrRank},
			"no rank":          {c.IsendInto(&r, -1, 0, nil), ErrRank},
			"no request":       {c.IrecvInto(nil, 1, 0, nil), errNoRequest},
		} {
			if !errors.Is(x.got, x.want) {
				t.Errorf("%s: %v, want %v", what, x.got, x.want)
			}
		}
		if err := c.IrecvInto(&r, 1, 3, make([]byte, 2)); err != nil {
			t.Fatal(err)
		}
		if err := c.IrecvInto(&r, 1, 3, nil); !errors.Is(err, ErrActive) {
			t.Errorf("a request under way starts again: %v", err)
		}
		if err := other.Send(0, 3, []byte("four")); err != nil {
			t.Fatal(err)
		}
		if err := r.Wait(); !errors.Is(err, ErrTruncated) || r.Envelope().Size != 4 {
			t.Errorf("%v, %+v", err, r.Envelope())
		}
		if err := other.Send(0, 4, []byte("four")); err != nil {
			t.Fatal(err)
		}
		if e, err := c.Recv(1, 4, make([]byte, 2)); !errors.Is(err, ErrTruncated) || e.Size != 4 {
			t.Errorf("%v, %+v", err, e)
		}
		waits := make(chan error, 1)
		go func() {
			_, err := c.Recv(1, 5, make([]byte, 10))
			waits <- err
		}()
		each(2, func(i int) {
			if err := j.sessions[1+i].Close(); err != nil {
				t.Error(err)
			}
		})
		if err := <-waits; !errors.Is(err, ErrPeerLost) {
			t.Errorf("a receive from a rank that has left: %v", err)
		}
		if err := c.Send(1, 5, make([]byte, 100)); !errors.Is(err, ErrPeerLost) {
			t.Errorf("a send to a rank that has left: %v", err)
		}
		if err := j.sessions[0].Close(); err != nil {
			t.Error(err)
		}
		for _, e := range j.engines {
			e.Close()
		}
	})
}
