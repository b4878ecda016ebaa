//go:build (amd64 || arm64) && !portable

package asm

// G identifies the goroutine that calls: different from that of every other living goroutine, never 0, constant for the
// life of the goroutine; the runtime gives it to another one later. It is the runtime's descriptor, only to be
// compared.
//
//go:noescape
func G() uintptr
