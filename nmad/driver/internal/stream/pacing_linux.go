package stream

import (
	"time"

	"github.com/pm2-go/pm2/asm"
)

// pauseTime is how long Pull leaves the kernel alone once a look has emptied the socket in the middle of a
// message: a segment of 64 KiB takes the sender about 5 us.
const pauseTime = 1500 * time.Nanosecond

// pacing puts pauses between the looks at a message that is arriving. A look takes the socket's lock, and its
// cache lines, from the kernel, which is about to put the next bytes there on behalf of the sender, and the
// sender's CPU limits the stream. So during a pause Pull returns nothing without a look. There is no pause before
// the first bytes of a message, after a look that has filled its buffer, and for a sleeper, for which the kernel
// looks.
//
//	idle --- a look brings a part of a message, and empties the socket ---> paused, for pauseTime
//	paused --- the next look brings nothing, or a part of the rest ---> paused
//	                         brings all of the rest, or as much as it has room for ---> idle
//
// It belongs to the caller of Pull.
type pacing struct {
	remaining int   // bytes of the message that are still to come; 0: idle
	until     int64 // cycles: until then the stream is paused
	pause     int64 // pauseTime, in cycles
}

// paused reports whether a Pull of the rest of a message, of so many bytes, is to return without a look.
func (p *pacing) paused(rest int) bool {
	return p.remaining == rest && asm.Cycles() < p.until
}

// looked notes that a look has brought n bytes of the so many that are to come.
func (p *pacing) looked(n, of int) {
	switch {
	case n == 0 && p.remaining != of, n == of, n == maxMove:
		p.remaining = 0
		return
	case p.pause == 0:
		p.pause = asm.ToCycles(int64(pauseTime))
	}
	p.remaining = of - n
	p.until = asm.Cycles() + p.pause
}
