package pingpong

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/fromc"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

// What Options.Caller can be: what calls Send and Recv.
const (
	Thread    = "thread"    // a marcel thread
	Goroutine = "goroutine" // a goroutine
	Locked    = "locked"    // a goroutine that is locked to its OS thread
	FromC     = "c"         // C, on a thread that it has made
)

// caller is what was chosen, or what suits the engine.
func (o *Options) caller() string {
	switch {
	case o.Caller != "":
		return o.Caller
	case o.Engine == Threads || o.Engine == None:
		return Goroutine
	}
	return Thread
}

// checkCaller says what is wrong with the caller.
func (o *Options) checkCaller() error {
	switch {
	case !slices.Contains([]string{"", Thread, Goroutine, Locked, FromC}, o.Caller):
		return fmt.Errorf("--caller %q: choose thread, goroutine, locked or c", o.Caller)
	case o.Caller == Thread && (o.Engine == Threads || o.Engine == None):
		return fmt.Errorf("--caller thread: the engine %s is for goroutines: choose --engine hooks or explicit, or another caller", o.Engine)
	case o.Caller == FromC && (o.Window > 0 || o.Both || o.Loan):
		return fmt.Errorf("--caller c: only messages there and back are sent from C: leave --window, --bidirectional and --loan out")
	}
	return nil
}

// callers names what the pairs are of.
func (o *Options) callers() string {
	switch o.caller() {
	case Goroutine:
		return "goroutines"
	case Locked:
		return "locked goroutines"
	case FromC:
		return "threads of C's, less two crossings a round trip"
	}
	return "threads"
}

// goroutines reports whether goroutines exchange the messages; then marcel's scheduler is not started by that.
func (o *Options) goroutines() bool { return o.caller() != Thread }

// run runs f as what exchanges messages runs, and waits for its end.
func (o *Options) run(f func()) {
	if o.goroutines() {
		f()
	} else {
		marcel.Run(f)
	}
}

// each runs play for each pair in a caller of its own, waits for all, and returns the first error. For threads, or
// goroutines.
func (o *Options) each(play func(pair int) error) error {
	if !o.goroutines() {
		return inThreads(o.Threads, play)
	}
	errs := make([]error, o.Threads)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			switch o.caller() {
			case Locked:
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				errs[i] = play(i)
			case FromC:
				if err := fromc.Thread(func() { errs[i] = play(i) }); err != nil {
					errs[i] = err
				}
			default:
				errs[i] = play(i)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// wire is how the callers reach the gate, to be closed.
func (o *Options) wire(g *nmad.Gate) (w Wire, done func()) {
	w = g
	if o.varies(Plain) {
		w = plain{g}
	}
	if o.caller() != FromC {
		return w, func() {}
	}
	x := &crossing{wire: w}
	x.in = fromc.New(x.called)
	return x, x.in.Close
}

// crossing is a Wire each of whose calls is made by C.
type crossing struct {
	wire Wire
	in   *fromc.Caller

	// The call under way.
	send bool
	tag  uint64
	buf  []byte
	n    int
	err  error
}

func (x *crossing) called() {
	if x.send {
		x.err = x.wire.Send(x.tag, x.buf)
	} else {
		x.n, x.err = x.wire.Recv(x.tag, x.buf)
	}
}

func (x *crossing) Send(tag uint64, buf []byte) error {
	x.send, x.tag, x.buf = true, tag, buf
	x.in.Call()
	return x.err
}

func (x *crossing) Recv(tag uint64, buf []byte) (int, error) {
	x.send, x.tag, x.buf = false, tag, buf
	x.in.Call()
	return x.n, x.err
}

// crossings is what the callers add to a round trip, in cycles: for calls from C two crossings into C and back, since
// of each of the four calls one half is on the way of the message. To be called once, before the rows.
func (o *Options) crossings() (cycles int64, err error) {
	if o.caller() != FromC {
		return 0, nil
	}
	err = fromc.Thread(func() {
		x := fromc.New(func() {})
		defer x.Close()
		took := make([]int64, 1001)
		for i := range took {
			t := asm.Cycles()
			x.Call()
			took[i] = asm.Cycles() - t
		}
		slices.Sort(took)
		cycles = 2 * took[len(took)/2]
	})
	return cycles, err
}
