//go:build go1.26 && !go1.28 && linux && arm64 && !cgo && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

package direct

import "unsafe"

var ownOf = own

func switchTo(next uintptr, r *Refusal)

func own() unsafe.Pointer
