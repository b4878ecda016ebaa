//go:build go1.26 && !go1.28 && linux && arm64 && !cgo && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

package direct

import "unsafe"

var ownOf = own

// Switch parks the calling goroutine and continues next on the caller's OS thread. It returns when the caller has been
// resumed, and else at once, with the reason in *r, to which it writes nothing otherwise.
func Switch(next uintptr, r *Refusal)

func own() unsafe.Pointer
