package marcel

import (
	"reflect"
	"unsafe"
)

// isOff reports whether a case is switched off: it is nil, or holds a nil pointer. The second word of an interface is
// the pointer that it holds, or points to what it holds. It is also nil for a struct that consists of one nil pointer;
// holdsNil tells the two apart.
func isOff(c Case) bool { return (*[2]unsafe.Pointer)(unsafe.Pointer(&c))[1] == nil && holdsNil(c) }

// holdsNil is isOff by reflection.
//
//go:noinline
func holdsNil(c Case) bool {
	if c == nil {
		return true
	}
	switch v := reflect.ValueOf(c); v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan:
		return v.IsNil()
	}
	return false
}
