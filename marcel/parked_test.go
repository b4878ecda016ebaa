package marcel_test

import (
	"bytes"
	"runtime"
	"strings"
	"time"
)

// A party tells which goroutine it runs on, so that a test can wait until it is
// parked: order of arrival cannot be tested otherwise. A thread that is parked
// keeps its goroutine.
type party struct{ id chan string }

func newParty() *party { return &party{make(chan string, 1)} }

// here is called by the party, right before the call in which it will park.
func (p *party) here() {
	buf := make([]byte, 64)
	buf = buf[:runtime.Stack(buf, false)] // "goroutine 7 [running]:..."
	id, _, _ := bytes.Cut(buf, []byte(" ["))
	p.id <- string(id)
}

// parkedIn waits until the party is parked in a call of that function, whose name
// may be cut at either end. It is not for threads.
func (p *party) parkedIn(function string) {
	for id := <-p.id; !isParked(id, function); {
		time.Sleep(50 * time.Microsecond)
	}
}

// isParked looks at the stacks of all goroutines. One that has lost its VP is
// parked as well, but has not yet got to where it waits.
func isParked(id, function string) bool {
	for n := 1 << 16; ; n *= 2 {
		buf := make([]byte, n)
		if n = runtime.Stack(buf, true); n == len(buf) {
			continue
		}
		for g := range strings.SplitSeq(string(buf[:n]), "\n\n") {
			if rest, ok := strings.CutPrefix(g, id+" ["); ok {
				state, frames, _ := strings.Cut(rest, "]:\n")
				state, _, _ = strings.Cut(state, ",")
				return (state == "coroutine" || state == "chan receive" || state == "select") &&
					strings.Contains(frames, function) && !strings.Contains(frames, "comeBack")
			}
		}
		return false
	}
}
