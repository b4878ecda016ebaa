//go:build (amd64 || arm64) && !portable

package asm

import (
	"sync"
	"sync/atomic"
)

// gWord reads the word at that offset in the runtime's descriptor of the goroutine that calls.
//
//go:noescape
func gWord(offset uintptr) uint64

// GoID returns the number of the goroutine that calls, as stack traces show it. Unlike G it is never given to another
// goroutine. It takes two nanoseconds if the first call has found where the runtime keeps the number; otherwise, and at
// the first call, some microseconds.
func GoID() uint64 {
	if at := goIDOffset.Load(); at != 0 {
		return gWord(uintptr(at))
	}
	return slowGoID()
}

// goIDOffset is the offset that goIDAt has found; 0: none, or not looked for yet.
var goIDOffset atomic.Uint32

// slowGoID is GoID until goIDOffset is known.
//
//go:noinline
func slowGoID() uint64 {
	if at := goIDAt(); at != 0 {
		goIDOffset.Store(uint32(at))
		return gWord(at)
	}
	return tracedGoID()
}

// goIDAt returns the offset of the number in a goroutine's descriptor. The offset depends on the Go
// release, so a few goroutines search their own descriptors for their numbers. It returns 0 if they do
// not agree on exactly one offset.
var goIDAt = sync.OnceValue(func() uintptr {
	const (
		lookers = 4
		most    = 256 // bytes; descriptors are longer
	)
	var mu sync.Mutex
	var wg sync.WaitGroup
	found := map[uintptr]int{}
	for range lookers {
		wg.Go(func() {
			id := tracedGoID()
			for at := uintptr(8); at < most; at += 8 {
				if gWord(at) == id {
					mu.Lock()
					found[at]++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	offset := uintptr(0)
	for at, n := range found {
		switch {
		case n < lookers:
		case offset != 0:
			return 0
		default:
			offset = at
		}
	}
	return offset
})
