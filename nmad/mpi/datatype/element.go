package datatype

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"
)

// goKinds has the kinds of Go's numbers and bools.
var goKinds = map[reflect.Kind]Kind{
	reflect.Bool: Bool, reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32, reflect.Int64: Int64,
	reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32, reflect.Uint64: Uint64,
	reflect.Float32: Float32, reflect.Float64: Float64, reflect.Complex64: Complex64, reflect.Complex128: Complex128,
	reflect.Int: map[int]Kind{32: Int32, 64: Int64}[strconv.IntSize], reflect.Uint: map[int]Kind{32: Uint32, 64: Uint64}[strconv.IntSize],
}

var elements sync.Map // *Type by reflect.Type, of the Go types that OfGo was called with

// OfGo returns the Type of an element of a Go type: a number, a bool, or an array or struct of these. Blank fields and
// the gaps between fields are not sent. Other types, such as pointers, slices and strings, mean nothing in another
// process: ErrType.
func OfGo(x reflect.Type) (*Type, error) {
	if t, ok := elements.Load(x); ok {
		return t.(*Type), nil
	}
	t, err := ofGo(x, x.String())
	if err != nil {
		return nil, err
	}
	if x.Kind() == reflect.Struct {
		t = t.Named(x.String())
	}
	elements.Store(x, t)
	return t, nil
}

// ofGo is OfGo without the cache. path names the part of the Go type, for the error.
func ofGo(x reflect.Type, path string) (*Type, error) {
	if k := goKinds[x.Kind()]; k != None {
		return Of(k), nil
	}
	switch x.Kind() {
	case reflect.Array:
		of, err := ofGo(x.Elem(), path+"[]")
		if err != nil {
			return nil, err
		}
		return Contiguous(x.Len(), of)
	case reflect.Struct:
		var blocks, at []int
		var types []*Type
		for i := range x.NumField() {
			f := x.Field(i)
			if f.Name == "_" {
				continue
			}
			t, err := ofGo(f.Type, path+"."+f.Name)
			if err != nil {
				return nil, err
			}
			blocks, at, types = append(blocks, 1), append(at, int(f.Offset)), append(types, t)
		}
		t, err := Struct(blocks, at, types)
		if err != nil {
			return nil, err
		}
		return Resized(t, 0, int(x.Size()))
	}
	return nil, fmt.Errorf("%w: %s is a %v, which means nothing in another process", ErrType, path, x.Kind())
}
