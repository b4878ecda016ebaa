package sched

import "unsafe"

// codeOf identifies what b runs: the code of a function, or the type of a Body.
func codeOf(b Body) uintptr {
	if f, ok := b.(plain); ok {
		return **(**uintptr)(unsafe.Pointer(&f))
	}
	return *(*uintptr)(unsafe.Pointer(&b))
}

// code is codeOf t's body, for others than t: a look at words that may change meanwhile, at
// worst into those of another body, whose code it then is, or is not. 0: there is none.
//
//go:norace
func (t *thread) code() uintptr {
	words := (*[2]unsafe.Pointer)(unsafe.Pointer(&t.body))
	var none Body = plain(nil)
	kind, data := words[0], words[1]
	if kind == nil || data == nil {
		return 0
	}
	if kind == (*[2]unsafe.Pointer)(unsafe.Pointer(&none))[0] {
		return *(*uintptr)(data)
	}
	return uintptr(kind)
}
