//go:build !go1.26 || go1.28 || !linux || !(amd64 || (arm64 && !cgo)) || goexperiment.staticlockranking || goexperiment.runtimesecret || valgrind || portable

package direct

import (
	"runtime"
	"unsafe"
)

// Where goroutines cannot be switched directly only HandOver, Park and Ready work. The rest is here so that callers
// compile; it is never called, since Supported says no.

const waitReason = 38 // "coroutine", in Go 1.26

// Supported is false.
func Supported() bool { return false }

// Current returns 0.
func Current() uintptr { return 0 }

// Own returns nil.
var Own = func() unsafe.Pointer { return nil }

// SetOwn does nothing.
func SetOwn(uintptr, unsafe.Pointer) {}

// Machine returns 0.
func Machine() uintptr { return 0 }

// Locks returns Held.
func Locks() uint64 { return Held }

// Hold is runtime.LockOSThread.
func Hold() { runtime.LockOSThread() }

// Unhold is runtime.UnlockOSThread.
func Unhold() { runtime.UnlockOSThread() }

// Rehold does nothing.
func Rehold() {}

// Queued is false: what the Go scheduler has ready is not known.
func Queued() bool { return false }

// Marked returns false.
func Marked() bool { return false }

// Status returns 0, which stands for nothing.
func Status(uintptr) uint32 { return 0 }

// ByChoice returns false.
func ByChoice(uintptr) bool { return false }

// Recording returns false.
func Recording(*Refusal) bool { return false }

// Switch refuses.
func Switch(next uintptr, r *Refusal) { *r = Recorded }

// Try refuses.
func Try(uintptr) Refusal { return Recorded }

// Repossess refuses.
func Repossess(gp, m, base uintptr, inside, id *uint32, lost uint32) bool { return false }

// Deprive refuses.
func Deprive(gp uintptr, status uint32, inside, word *uint32, holder uint32) bool { return false }

// AskStop refuses.
func AskStop(uintptr) bool { return false }

// AskedToStop returns false.
func AskedToStop(uintptr) bool { return false }

// BondsOf knows none.
func BondsOf(uintptr) (b Bonds) { return b }

// StoppedInRuntime returns true.
func StoppedInRuntime(uintptr) bool { return true }

// Withdraw finds nothing.
func Withdraw(uintptr) bool { return false }

// ClaimStopped finds nothing.
func ClaimStopped(gp, m, base uintptr, inside, id *uint32, lost uint32) Stop { return NotStopped }

// Go starts a goroutine that calls run, and begins by itself.
func Go(run func()) uintptr {
	go run()
	return 0
}

func traceBufs() bool { return false }

// passLock does nothing: the OS thread is not locked.
func passLock(gp, next uintptr) {}
