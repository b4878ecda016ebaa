package stream

import (
	"time"

	"github.com/pm2-go/pm2/asm"
)

// pauseTime is how long Pull leaves the kernel alone once a look has emptied the socket in the middle of a
// message: a segment of 64 KiB takes the sender about 5 us.
const pauseTime = 1500 * time.Nanosecond

// pacing puts pauses between the looks at a message that is flowing in. A look takes the socket's lock, and the lines of
// the socket, from the kernel, which is about to put the next bytes there on behalf of the sender, whose
// CPU is what bounds the stream. So a poll that comes within that time is told that nothing has arrived. The
// first bytes of a message, a look that filled its buffer, and the sleeper, for which the kernel looks, wait for nothing.
//
//	idle --- a look brings a part of a message, and empties the socket ---> paused, for pauseTime
//	paused --- then, a look brings: nothing, or a part of what is left ---> paused
//	                                all that is left, or as much as it has room for ---> idle
//
// It belongs to the caller of Pull.
type pacing struct {
	left  int   // bytes of the message that are still to come; 0: idle
	until int64 // cycles: until then the stream is paused
	pause int64 // pauseTime, in cycles
}

// paused says whether Pull of the rest of a message, so many bytes, need not look now.
func (p *pacing) paused(rest int) bool {
	return p.left == rest && asm.Cycles() < p.until
}

// looked hears that a look brought n bytes of so many that are to come.
func (p *pacing) looked(n, of int) {
	switch {
	case n == 0 && p.left != of, n == of, n == mostOnce:
		p.left = 0
		return
	case p.pause == 0:
		p.pause = asm.ToCycles(int64(pauseTime))
	}
	p.left = of - n
	p.until = asm.Cycles() + p.pause
}
