//go:build !cgo || !fromc

package fromc

// Available reports whether this program can call from C.
const Available = false

// Thread calls f: this program is built without C, and does not call it where that matters.
func Thread(f func()) error { f(); return nil }

// Caller is a function that is called directly here.
type Caller struct{ f func() }

// New makes a Caller of f.
func New(f func()) *Caller { return &Caller{f} }

// Call calls the function.
func (c *Caller) Call() { c.f() }

// Close does nothing here.
func (c *Caller) Close() {}
