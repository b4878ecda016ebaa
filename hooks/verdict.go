package hooks

import "strconv"

// Verdict is what a hook says about the work it knows of; it tells an idle
// processor what to do next. The greatest one of all hooks counts.
type Verdict uint8

const (
	Quiet   Verdict = iota // nothing pending: the processor may sleep until it is kicked
	Waiting                // something pending that the kernel can announce: it may sleep in the Sleeper
	Busy                   // poll again at once
)

// String returns the name of the verdict.
func (v Verdict) String() string {
	switch v {
	case Quiet:
		return "quiet"
	case Waiting:
		return "waiting"
	case Busy:
		return "busy"
	}
	return "verdict " + strconv.Itoa(int(v))
}
