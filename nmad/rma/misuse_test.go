package rma

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
)

// TestNilContext: a wait without a context is one that nothing ends.
func TestNilContext(t *testing.T) {
	w := job(t, "shm", 1, options{})[0]
	r, err := w.Make(8)
	if err != nil {
		t.Fatal(err)
	}
	var none context.Context
	var done Event
	if err := errors.Join(w.Default().PutNB(r.Ref(0), []byte{1}, nil, &done), done.WaitContext(none)); err != nil {
		t.Error(err)
	}
	var busy Event
	busy.take(w.engine)
	ended := make(chan error)
	go func() { ended <- busy.WaitContext(none) }()
	go func() { ended <- second(w.Default().WaitSignal(none, r.Ref(0), EQ, 2)) }()
	for w.peers[0].page.sleeping().Load() == 0 {
		runtime.Gosched()
	}
	busy.end(nil)
	if err := errors.Join(w.Default().PutSignal(r.Ref(0), nil, r.Ref(0), SignalSet, 2), <-ended, <-ended); err != nil {
		t.Error(err)
	}
}

// TestWrongUse: each kind gets an error that says what is wrong, on every way, and changes nothing.
func TestWrongUse(t *testing.T) {
	onEveryWay(t, func(t *testing.T, worlds []*World) {
		s := segments(t, worlds, 100)
		w, last := worlds[0], len(worlds)-1
		d := w.Default()
		at := s[0].At(last, 0)
		forged := at
		forged.key ^= 1 << 40
		far := at
		far.index = 77
		r, err := worlds[last].Make(64)
		if err != nil {
			t.Fatal(err)
		}
		closed := r.Ref(0)
		if err := d.Put(closed, []byte{1}); err != nil { // from now on it is known here
			t.Fatal(err)
		}
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Fatal(err)
		}
		p, err := w.Domain(DomainConfig{Access: nmad.Private})
		if err != nil {
			t.Fatal(err)
		}
		other := func(f func(p *Domain) error) (err error) {
			over := make(chan struct{})
			go func() {
				defer close(over)
				err = f(p)
			}()
			<-over
			return err
		}
		put := func(at Ref, n int) error { return d.Put(at, make([]byte, n)) }
		fetch := func(at Ref) error { _, err := Fetch(d, Add, at, int64(1)); return err }
		var none *Domain
		var busy Event
		busy.take(w.engine)
		for name, x := range map[string]struct{ err, want error }{
			"a forged key":           {put(forged, 1), ErrKey},
			"a forged key, get":      {d.Get(make([]byte, 1), forged), ErrKey},
			"a forged key, atomic":   {fetch(forged), ErrKey},
			"a forged key, nothing":  {put(forged, 0), ErrKey},
			"an index of nothing":    {put(far, 1), ErrKey},
			"the zero reference":     {put(Ref{}, 1), ErrKey},
			"closed memory":          {put(closed, 1), ErrKey},
			"beyond the end":         {put(at, 101), ErrRange},
			"beyond the end, long":   {put(at, 1<<20), ErrRange},
			"behind the end":         {put(at.Add(101), 0), ErrRange},
			"before the beginning":   {put(at.Add(-1), 1), ErrRange},
			"around the end":         {put(at.Add(math.MaxInt64).Add(math.MaxInt64), 8), ErrRange},
			"beyond, get":            {d.Get(make([]byte, 101), at), ErrRange},
			"beyond, atomic":         {fetch(at.Add(96)), ErrRange},
			"not aligned":            {fetch(at.Add(4)), ErrAlign},
			"not aligned, 4":         {UpdateNBI(d, Add, at.Add(2), int32(1)), nil},
			"no such operation":      {UpdateNBI(d, opLoad, at, int64(1)), ErrOp},
			"and of floats":          {UpdateNBI(d, And, at, 1.0), ErrOp},
			"no such rank":           {put(s[0].At(len(worlds), 0), 1), nmad.ErrRank},
			"no such rank, flush":    {d.Flush(-1), nmad.ErrRank},
			"no domain":              {none.Put(at, nil), nmad.ErrConfig},
			"no domain, flush":       {none.FlushAll(), nmad.ErrConfig},
			"no domain, event":       {none.PutNB(at, nil, &Event{}, nil), nmad.ErrConfig},
			"no domain, atomic":      {UpdateNBI(none, Add, at, int64(1)), nmad.ErrConfig},
			"an event in use":        {d.PutNB(at, nil, &busy, nil), nmad.ErrActive},
			"one event for two":      {d.PutNB(at, nil, new(Event), &busy), nmad.ErrActive},
			"an event without":       {new(Event).Wait(), nmad.ErrNotStarted},
			"another thread":         {other(func(p *Domain) error { return p.Put(at, nil) }), nmad.ErrOwner},
			"another thread, atomic": {other(func(p *Domain) error { return UpdateNBI(p, Add, at, int64(1)) }), nmad.ErrOwner},
			"another thread, flush":  {other(func(p *Domain) error { return p.Flush(0) }), nmad.ErrOwner},
			"the owner":              {p.Put(at, []byte{0}), nil},
			"signal: beyond":         {d.PutSignal(at, nil, at.Add(96), SignalAdd, 1), ErrRange},
			"signal: not aligned":    {d.PutSignal(at, nil, at.Add(4), SignalAdd, 1), ErrAlign},
			"signal: forged":         {d.PutSignal(at, nil, forged, SignalAdd, 1), ErrKey},
			"signal: no operation":   {d.PutSignal(at, nil, at, 2, 1), ErrOp},
			"fine access":            {second(w.Domain(DomainConfig{Access: nmad.Fine})), nmad.ErrConfig},
			"less than nothing":      {second(w.Make(-1)), ErrSize},
			"more than there is":     {second(w.Make(MaxBytes + 1)), ErrSize},
			"no session":             {second(Open(nil)), nmad.ErrConfig},
			"a second world":         {second(Open(w.Session())), nmad.ErrConfig},
			"a short reference":      {second(ParseRef(make([]byte, 23))), ErrRef},
		} {
			if name == "not aligned, 4" && x.err == nil { // it goes by messages, so Flush tells
				x.err = d.Flush(last)
			}
			if name == "not aligned, 4" {
				x.want = ErrAlign
			}
			if name == "a second world" && len(worlds) == 1 {
				continue // alone it opens no contexts
			}
			if !errors.Is(x.err, x.want) || x.want != nil && !strings.HasPrefix(x.err.Error(), "rma: ") && !errors.Is(x.err, nmad.ErrNotStarted) {
				t.Errorf("%s: %v, want %v", name, x.err, x.want)
			}
		}
		if last > 0 {
			if err := d.PutSignal(at, nil, s[0].At(0, 0), SignalAdd, 1); !errors.Is(err, ErrRef) {
				t.Errorf("a signal at another rank: %v", err)
			}
			if _, err := d.WaitSignal(context.Background(), at, GE, 0); !errors.Is(err, ErrRef) {
				t.Errorf("a signal of another rank: %v", err)
			}
		}
		if !bytes.Equal(s[last].Bytes(), make([]byte, 100)) {
			t.Error("the memory has changed")
		}
		if _, err := d.WaitSignal(context.Background(), s[0].At(0, 0), 6, 0); !errors.Is(err, ErrOp) {
			t.Errorf("a comparison that is none: %v", err)
		}
		if err := d.FlushAll(); err != nil {
			t.Errorf("what was told is told again: %v", err)
		}
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(context.Background())
		go func() {
			time.Sleep(time.Millisecond)
			cancel(why)
		}()
		if _, err := d.WaitSignal(ctx, s[0].At(0, 0), GE, 1); !errors.Is(err, why) {
			t.Errorf("a context that is done: %v", err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestSizesDiffer: an Alloc of different sizes fails at all ranks, and the next one works.
func TestSizesDiffer(t *testing.T) {
	worlds := job(t, "shm", 3, options{})
	each(t, worlds, func(w *World) error {
		if _, err := w.Alloc(100 + w.Rank()); !errors.Is(err, ErrSize) {
			return errors.Join(errors.New("sizes that differ"), err)
		}
		bytes := 100
		if w.Rank() == 1 {
			bytes = -1
		}
		if _, err := w.Alloc(bytes); !errors.Is(err, ErrSize) {
			return errors.Join(errors.New("a size below 0"), err)
		}
		s, err := w.Alloc(0)
		return errors.Join(err, s.Free(), s.Free())
	})
	for _, w := range worlds {
		if l := w.Limits(); l.Segments != 0 || l.Bytes != 0 || l.Mapped != 2*pageBytes || len(l.MappedRanks) != 2 {
			t.Errorf("%+v", l)
		}
	}
}

// TestManySegments: indices and keys of what was freed are not taken for those of what came after.
func TestManySegments(t *testing.T) {
	onEveryWay(t, func(t *testing.T, worlds []*World) {
		each(t, worlds, func(w *World) error {
			d, next := w.Default(), (w.Rank()+1)%w.Size()
			var old Ref
			for range 20 {
				s, err := w.Alloc(64)
				if err != nil {
					return err
				}
				if err := d.Put(old, []byte{1}); !errors.Is(err, ErrKey) && old != (Ref{}) {
					return errors.Join(errors.New("freed memory"), err)
				}
				if err := errors.Join(d.Put(s.At(next, 3), []byte{1}), s.Free()); err != nil {
					return err
				}
				old = s.At(next, 3)
			}
			return nil
		})
	})
}

// TestRegionsCome: regions are closed while others use them: each use works, or is an ErrKey, and after Close nothing
// changes.
func TestRegionsCome(t *testing.T) {
	onEveryWay(t, func(t *testing.T, worlds []*World) {
		for _, register := range []bool{false, true} {
			refs := make(chan Ref, 1)
			over := make(chan struct{})
			go func() {
				defer close(over)
				w := worlds[0]
				for i := range 30 {
					b := make([]byte, 300_000)
					var r *Region
					var err error
					if register {
						r, err = w.Register(b)
					} else {
						r, err = w.Make(len(b))
					}
					if err != nil {
						t.Error(err)
						return
					}
					refs <- r.Ref(0)
					time.Sleep(time.Duration(i%5) * 100 * time.Microsecond)
					if err := r.Close(); err != nil {
						t.Error(err)
					}
					if len(worlds) == 1 { // a thread of the process itself may still be inside a copy
						continue
					}
					before := bytes.Clone(b)
					time.Sleep(50 * time.Microsecond)
					if !bytes.Equal(before, b) {
						t.Error("a put after the memory was closed")
					}
				}
				close(refs)
			}()
			d := worlds[len(worlds)-1].Default()
			src := bytes.Repeat([]byte{1}, 300_000)
			for at := range refs {
				for i := 0; ; i++ {
					src[0] = byte(i)
					n := []int{300_000, 1000, 8}[i%3]
					err := d.Put(at, src[:n])
					if err == nil {
						err = d.Get(src[:n], at)
					}
					if err == nil && register {
						_, err = Fetch(d, Add, at, int32(1))
					}
					if errors.Is(err, ErrKey) {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			<-over
		}
	})
}

// TestAllocateNothing: what is mapped takes no memory of Go's.
func TestAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	worlds := job(t, "shm", 2, options{})
	s := segments(t, worlds, 1<<20)
	d := worlds[0].Default()
	at, buf := s[0].At(1, 64), make([]byte, 100_000)
	var e Event
	for name, f := range map[string]func() error{
		"put":    func() error { return d.Put(at, buf) },
		"get":    func() error { return d.Get(buf, at) },
		"put nb": func() error { return errors.Join(d.PutNB(at, buf, nil, &e), e.Wait()) },
		"fetch":  func() error { return second(Fetch(d, Add, at, int64(1))) },
		"max":    func() error { return second(Fetch(d, Max, at, 1.0)) },
		"cas":    func() error { return second(CompareAndSwap(d, at, 1, uint32(2))) },
		"signal": func() error { return d.PutSignal(at, buf[:8], at.Add(8), SignalAdd, 1) },
		"wait":   func() error { return second(d.WaitSignal(context.Background(), s[0].At(0, 0), EQ, 0)) },
		"flush":  func() error { return errors.Join(d.Fence(), d.Flush(1), d.FlushAll()) },
	} {
		var err error
		if n := testing.AllocsPerRun(100, func() { err = f() }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations, %v", name, n, err)
		}
	}
}

// TestOpenElsewhere: an Open that fails at one process, for want of a context, or of memory, fails at all of them,
// with its rank; and the next one works.
func TestOpenElsewhere(t *testing.T) {
	for _, driver := range []string{"shm", "tcp"} {
		worlds := job(t, driver, 3, options{})
		each(t, worlds, func(w *World) error { return w.Close() })
		fails := func(bad int, why error, open func(rank int) (*World, error)) {
			t.Helper()
			each(t, worlds, func(w *World) error {
				_, err := open(w.rank)
				if w.rank == bad && !errors.Is(err, why) || w.rank != bad && (!errors.Is(err, ErrElsewhere) || !strings.Contains(err.Error(), fmt.Sprint("rank ", bad))) {
					return errors.Join(errors.New("the wrong error"), err)
				}
				return nil
			})
		}
		c, err := worlds[1].s.OpenContext(FirstContext, 1)
		if err != nil {
			t.Fatal(err)
		}
		fails(1, nmad.ErrConfig, func(rank int) (*World, error) { return Open(worlds[rank].s) })
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		fails(2, ErrSize, func(rank int) (*World, error) { return open(worlds[rank].s, options{starved: rank == 2}) })
		each(t, worlds, func(w *World) (err error) {
			worlds[w.rank], err = Open(w.s)
			return err
		})
	}
}

// TestExplain: how memory of each kind is reached, each way.
func TestExplain(t *testing.T) {
	onEveryWay(t, func(t *testing.T, worlds []*World) {
		last := len(worlds) - 1
		s := segments(t, worlds, 8)
		g, err := worlds[last].Register(make([]byte, 8))
		if err != nil {
			t.Fatal(err)
		}
		segment, registered := "by messages, since messages", "by messages, since messages"
		switch _, name, _ := strings.Cut(t.Name(), "/"); {
		case last == 0:
			segment, registered = "own memory", "own memory"
		case name == "mapped", name == "ofi:shm":
			segment, registered = "mapped: ", "not mapped: "
		case name == "ofi:tcp", name == "ofi:tcp_short":
			registered = "by the network itself, 0 so far"
		}
		for want, at := range map[*string]Ref{&segment: s[last].At(last, 0), &registered: g.Ref(0)} {
			if text, err := worlds[0].Default().Explain(at); err != nil || !strings.Contains(text, *want) || !strings.HasPrefix(text, fmt.Sprint("rank ", last)) {
				t.Errorf("%q, %v, want %q", text, err, *want)
			}
		}
		if _, err := worlds[0].Default().Explain(s[0].At(last, 0).Add(9)); !errors.Is(err, ErrRange) {
			t.Error(err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
}
