package asm

import (
	"runtime"
	"sync"
)

// firstLines keeps the buffers of tracedGoID, which escape to the heap because runtime.Stack gets them.
var firstLines = sync.Pool{New: func() any { return new([64]byte) }}

// tracedGoID reads the number of the calling goroutine from the first line of its stack trace,
// "goroutine 18 [running]:". It takes about a microsecond.
func tracedGoID() (id uint64) {
	const prefix = len("goroutine ")
	line := firstLines.Get().(*[64]byte)
	defer firstLines.Put(line)
	n := runtime.Stack(line[:], false)
	for _, c := range line[min(prefix, n):n] {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uint64(c-'0')
	}
	return id
}
