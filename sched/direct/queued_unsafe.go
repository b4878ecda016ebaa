//go:build go1.26 && !go1.28 && linux && (amd64 || (arm64 && !cgo)) && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

package direct

import "unsafe"

// Queued reports whether another goroutine is ready in the queue of the caller's P: it runs once the caller blocks,
// yields, or has computed for 10 ms. It is five loads; what they read may be over in the next moment. A goroutine in
// the queue that all Ps share does not count.
//
//go:norace
func Queued() bool {
	p := load(load(Current()+gM) + mP)
	if p == 0 {
		return false // the caller was moved to another OS thread between the two loads
	}
	ends := load(p + pRunqhead) // two words of four bytes: where the queue begins, and where it ends
	return load(p+pRunnext) != 0 || uint32(ends) != uint32(ends>>32)
}

// load reads a word of the runtime's. checkptr would refuse a pointer that is made of a number.
//
//go:norace
//go:nosplit
func load(at uintptr) uintptr { return **(**uintptr)(unsafe.Pointer(&at)) }
