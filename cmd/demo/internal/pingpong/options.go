package pingpong

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pm2-go/pm2/cmd/demo/internal/pattern"
	"github.com/pm2-go/pm2/cmd/demo/internal/size"
)

const (
	// MaxThreads is the largest number of pairs of threads.
	MaxThreads = 4096

	// MaxWindow is the largest number of messages in a window.
	MaxWindow = 1024

	maxBuffers = 8 << 30 // bytes of buffers in one process

	fullSize  = 8 << 10 // up to here a size runs all its iterations
	leastRuns = 50      // no size runs fewer, unless asked to
)

// Options say what to run. Both ranks get the same.
type Options struct {
	Driver  string    `json:"driver"`
	Engine  string    `json:"engine"`           // Hooks, Explicit, Threads or None
	Iters   int       `json:"iters"`            // per pair, for sizes up to 8 KiB
	Warmup  int       `json:"warmup,omitempty"` // exchanges before them; with it Iters is of all sizes; 0: a tenth
	Threads int       `json:"threads"`
	Caller  string    `json:"caller,omitempty"` // Thread, Goroutine, Locked or FromC; empty: what suits the engine
	Offset  Offsets   `json:"offset,omitzero"`
	Vary    []string  `json:"vary,omitempty"`          // of Plain, Fresh, Busy
	Window  int       `json:"window,omitempty"`        // messages under way at once, in one direction; 0: there and back, one at a time
	Both    bool      `json:"bidirectional,omitempty"` // messages in both directions at the same time
	Loan    bool      `json:"loan,omitempty"`          // messages lie in buffers of the gate, and are read there
	Touch   bool      `json:"touch,omitempty"`         // to write and to read every byte of a message is in the time
	Sizes   size.List `json:"sizes"`
	Listen  string    `json:"listen,omitempty"` // where rank 0 awaits rank 1; empty: loopback, any port
	Trace   *Trace    `json:"trace,omitempty"`  // nil: none
}

// Offsets say where in a page buffers begin, in bytes.
type Offsets struct {
	Send    int `json:"send"`
	Receive int `json:"receive"`
}

// MarshalText writes what UnmarshalText reads.
func (at Offsets) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%d:%d", at.Send, at.Receive), nil
}

// UnmarshalText reads "16" (both) or "16:0" (of sends, of receives).
func (at *Offsets) UnmarshalText(text []byte) error {
	send, receive, two := strings.Cut(string(text), ":")
	if !two {
		receive = send
	}
	for i, word := range []string{send, receive} {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || n >= pattern.Page {
			return fmt.Errorf("%q: write where in a page buffers begin, 0 to %d bytes, such as 16, or 16:0 for sends and receives", text, pattern.Page-1)
		}
		*[]*int{&at.Send, &at.Receive}[i] = n
	}
	return nil
}

// Validate says what is wrong with the options and what would be right.
func (o *Options) Validate() error {
	switch {
	case o.Iters < 1:
		return fmt.Errorf("--iters %d: there must be at least 1 iteration", o.Iters)
	case o.Warmup < 0:
		return fmt.Errorf("--warmup %d: choose 1 or more exchanges, or 0 for a tenth of those that count", o.Warmup)
	case o.Threads < 1 || o.Threads > MaxThreads:
		return fmt.Errorf("--threads %d: choose from 1 to %d pairs of threads", o.Threads, MaxThreads)
	case o.Window < 0 || o.Window > MaxWindow:
		return fmt.Errorf("--window %d: choose from 1 to %d messages, or 0 for a ping-pong", o.Window, MaxWindow)
	case o.Window > 0 && (o.Loan || o.Touch):
		return fmt.Errorf("--window %d: --loan and --touch are for messages there and back: leave one of them out", o.Window)
	case o.Both && (o.Loan || o.Touch):
		return fmt.Errorf("--bidirectional: --loan and --touch are for messages there and back: leave one of them out")
	case o.Offset != (Offsets{}) && o.Loan:
		return fmt.Errorf("--offset: --loan has messages lie where the gate has them: leave one of them out")
	case len(o.Sizes) == 0:
		return fmt.Errorf("--sizes: at least one size is needed, such as 1:4M")
	case o.Sizes.Max() > maxBuffers/2/o.Threads:
		return fmt.Errorf("--threads %d with messages of %s needs over %s of buffers in each process: use fewer threads or smaller sizes",
			o.Threads, size.Format(o.Sizes.Max()), size.Format(maxBuffers))
	}
	if err := o.checkVary(); err != nil {
		return err
	}
	return o.checkCaller()
}

// iterations is how often a message of that size is exchanged, or a window of such sent, without warm-up.
func (o *Options) iterations(bytes int) int {
	n := o.Iters
	if o.Warmup > 0 {
		return n
	}
	bytes *= max(o.Window, 1)
	if bytes > fullSize {
		n = int(int64(n) * fullSize / int64(bytes))
	}
	return min(max(n, leastRuns), o.Iters)
}

// warmup is how many exchanges precede them.
func (o *Options) warmup(bytes int) int {
	if o.Warmup > 0 {
		return o.Warmup
	}
	return min(max(o.iterations(bytes)/10, 10), 1000)
}
