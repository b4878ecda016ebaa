package pio

import "sync/atomic"

// refs counts the users of a descriptor, so that its number is given back to the kernel, and
// perhaps to another file, only when no operation can use it any more: the idea of Go's
// internal/poll, in one word.
//
//	bit  31      closed: no new user is let in
//	bits 0..30   users; the owner, until Close, is one of them
//
// Users: take, the system calls, drop. Close: closed, then drop of the owner's share.
// The user that drops the last share of a closed word destroys the descriptor; the
// word never leaves that state.
type refs struct{ w atomic.Uint32 }

const refsClosed uint32 = 1 << 31

// open gives the owner its share.
func (r *refs) open() { r.w.Store(1) }

// take adds a user. false: closed.
func (r *refs) take() bool {
	for {
		n := r.w.Load()
		if n&refsClosed != 0 {
			return false
		}
		if r.w.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// close lets no user in from now on. false: closed already.
func (r *refs) close() bool { return r.w.Or(refsClosed)&refsClosed == 0 }

// drop takes a share back. true: it was the last one.
func (r *refs) drop() bool { return r.w.Add(^uint32(0)) == refsClosed }
