//go:build !linux

package self

// bell is none: nothing can be waited for in the kernel.
type bell struct{ fd int }

func (b *bell) open() error { b.none(); return nil }
func (b *bell) none()       { b.fd = -1 }
func (b *bell) ring()       {}
func (b *bell) quiet()      {}
func (b *bell) close()      {}
