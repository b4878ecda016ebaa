package sched

import "unsafe"

// codeOf identifies what b runs: the code of a function, be it b or what b wraps, or the type of a Body.
func codeOf(b Body) uintptr {
	words := (*[2]unsafe.Pointer)(unsafe.Pointer(&b))
	return codeAt(words[0], words[1])
}

// WrapperOf returns the first field of a Body that wraps f, a function of any type.
func WrapperOf(f any) Wrapper {
	if data := (*[2]unsafe.Pointer)(unsafe.Pointer(&f))[1]; data != nil {
		return Wrapper{*(*uintptr)(data)}
	}
	return Wrapper{}
}

// code is codeOf t's body, for others than t: a look at words that may change meanwhile, at
// worst into those of another body, whose code it then is, or is not. 0: there is none.
//
//go:norace
func (t *thread) code() uintptr {
	words := (*[2]unsafe.Pointer)(unsafe.Pointer(&t.body))
	return codeAt(words[0], words[1])
}

// codeAt is codeOf a Body of which kind and data are the words. A function and what wraps one begin with its code.
//
//go:norace
func codeAt(kind, data unsafe.Pointer) uintptr {
	if kind == nil || data == nil {
		return 0
	}
	var b Body
	*(*[2]unsafe.Pointer)(unsafe.Pointer(&b)) = [2]unsafe.Pointer{kind, data}
	switch b.(type) {
	case plain, interface{ wraps() }:
		return *(*uintptr)(data)
	}
	return uintptr(kind)
}
