package shelf

import "sync/atomic"

// Uses counts the users of something that ends, such as a descriptor, whose number is given back to the kernel, and
// perhaps to another file, only when no operation can use it any more: the idea of Go's
// internal/poll, in one word. Any thread, goroutine or hook may call its methods; none blocks.
//
//	bit  31      closed: no new user is let in
//	bits 0..30   users; the owner, until Close, is one of them
//
// Users: Take, the system calls, Drop. The owner: Close, then Drop of its own share. The user that drops the last share
// of a closed word destroys what was used; the word never leaves that state.
type Uses struct{ w atomic.Uint32 }

const usesClosed uint32 = 1 << 31

// Open makes the owner the first user. The owner calls it before others know of u.
func (u *Uses) Open() { u.w.Store(1) }

// Take adds a user. It returns false after Close.
func (u *Uses) Take() bool {
	for {
		n := u.w.Load()
		if n&usesClosed != 0 {
			return false
		}
		if u.w.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Close lets no user in from now on. It returns false if u is closed already.
func (u *Uses) Close() bool { return u.w.Or(usesClosed)&usesClosed == 0 }

// Drop ends the use of one user. It reports whether u is closed and this was the last user, which now destroys what was
// used.
func (u *Uses) Drop() bool { return u.w.Add(^uint32(0)) == usesClosed }

// Count returns how many users there are, the owner included: a hint.
func (u *Uses) Count() int { return int(u.w.Load() &^ usesClosed) }
