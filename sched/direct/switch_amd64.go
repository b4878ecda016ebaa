//go:build go1.26 && !go1.28 && linux && amd64 && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

package direct

import "unsafe"

// Assembly outside of the runtime has Go's internal calling convention, with arguments, results and the g in registers,
// only behind a func value: the address of a word with the code's. A call of an assembly function by its name
// passes all of them through memory, and reads the g from thread-local storage.
var (
	// Switch parks the calling goroutine and continues next on the caller's OS thread. It returns when the caller has
	// been resumed, and else at once, with the reason in *r, to which it writes nothing otherwise.
	Switch = behind[func(next uintptr, r *Refusal)](switchToAt())

	ownOf = behind[func() unsafe.Pointer](ownAt())
)

func behind[F any](code uintptr) F {
	word := new(uintptr)
	*word = code
	return *(*F)(unsafe.Pointer(&word))
}

func switchToAt() uintptr
func ownAt() uintptr
