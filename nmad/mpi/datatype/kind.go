package datatype

import "fmt"

// Kind is the kind of a basic element.
type Kind uint8

// The kinds. Their numbers may differ between versions of this package.
const (
	None   Kind = iota
	Byte        // eight bits of any meaning
	Packed      // a byte of packed data
	Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
	Complex64
	Complex128
	LongDouble  // C's long double, in 16 bytes; Go does not compute with it
	LongComplex // two long doubles
	kinds
)

var kindNames = [kinds]string{
	"none", "byte", "packed", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
	"float32", "float64", "complex64", "complex128", "long double", "complex long double",
}

var kindSizes = [kinds]int{0, 1, 1, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16, 16, 32}

// String returns Go's name of the kind.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Size returns how many bytes an element has in memory; in the external32 representation it has as many, except for
// Narrow.
func (k Kind) Size() int {
	if k < kinds {
		return kindSizes[k]
	}
	return 0
}

// word returns the length of the words of an element, whose bytes turn reverses: a complex number has two words.
func (k Kind) word() int {
	if k == Complex64 || k == Complex128 || k == LongComplex {
		return k.Size() / 2
	}
	return k.Size()
}

// align returns the alignment of an element in bytes, as C has it on the machines for which Go compiles.
func (k Kind) align() int { return max(k.word(), 1) }
