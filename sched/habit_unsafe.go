package sched

import "unsafe"

// codeOf identifies what b runs: the code of the function that b is or wraps, or else the type of b.
func codeOf(b Body) uintptr {
	words := (*[2]unsafe.Pointer)(unsafe.Pointer(&b))
	return codeAt(words[0], words[1])
}

// WrapperOf returns the first field of a Body that wraps f, a function of any type.
func (moduleCalls) WrapperOf(f any) Wrapper {
	if data := (*[2]unsafe.Pointer)(unsafe.Pointer(&f))[1]; data != nil {
		return Wrapper{*(*uintptr)(data)}
	}
	return Wrapper{}
}

// code is codeOf of t's body for a caller that does not hold t: a racy hint, since t may get another body while code
// reads it. 0: there is no body.
//
//go:norace
func (t *thread) code() uintptr {
	words := (*[2]unsafe.Pointer)(unsafe.Pointer(&t.body))
	return codeAt(words[0], words[1])
}

// codeAt is codeOf of the Body whose two words are kind and data. A function value, and a Body with a Wrapper, begin
// with the address of the function's code.
//
//go:norace
func codeAt(kind, data unsafe.Pointer) uintptr {
	if kind == nil || data == nil {
		return 0
	}
	var b Body
	*(*[2]unsafe.Pointer)(unsafe.Pointer(&b)) = [2]unsafe.Pointer{kind, data}
	switch b.(type) {
	case funcBody, interface{ wraps() }:
		return *(*uintptr)(data)
	}
	return uintptr(kind)
}
