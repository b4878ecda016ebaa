package datatype

import "fmt"

// Kind is a basic element: what a Type is a list of.
type Kind uint8

// The kinds. Their numbers mean nothing outside of a process.
const (
	None   Kind = iota
	Byte        // eight bits that nothing is known about
	Packed      // a byte of what Pack has made
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
	LongDouble  // of C, in 16 bytes; nothing in Go computes with it
	LongComplex // two of these
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

// Size is how many bytes an element has in memory, and in the external32 representation unless Narrow says otherwise.
func (k Kind) Size() int {
	if k < kinds {
		return kindSizes[k]
	}
	return 0
}

// word is how many bytes of an element change places when their order is turned round: a complex number is two words.
func (k Kind) word() int {
	if k == Complex64 || k == Complex128 || k == LongComplex {
		return k.Size() / 2
	}
	return k.Size()
}

// align is what the address of an element is a multiple of, on the machines that Go knows; of a long double as C has it there.
func (k Kind) align() int { return max(k.word(), 1) }
