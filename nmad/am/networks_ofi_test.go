//go:build ofi && cgo && linux

package am

// builtIn is what the suite goes over, too, in a program built with it.
var builtIn = []string{"ofi:shm", "ofi:tcp"}
