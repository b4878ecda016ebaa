package plan

import "github.com/pm2-go/pm2/nmad/mpi/datatype"

// Blocks is a buffer with a block for each rank of a group.
type Blocks struct {
	datatype.Buffer                  // the first block is at its beginning; Count is that of all
	Each            int              // elements of a block, if there are no Counts
	Counts          []int            // elements of each block
	Places          []int            // where each block begins, in elements; nil: where the one before ends
	Bytes           []int            // where each block begins, in bytes, of blocks with Types
	Types           []*datatype.Type // of each block, in place of that of the buffer
}

// Block is that of a rank.
func (b *Blocks) Block(rank int) datatype.Buffer {
	switch {
	case b.Types != nil:
		return datatype.Buffer{Base: b.Base, At: b.At + b.Bytes[rank], Count: b.Counts[rank], Type: b.Types[rank]}
	case b.Counts == nil:
		return b.Part(rank*b.Each, b.Each)
	case b.Places != nil:
		return b.Part(b.Places[rank], b.Counts[rank])
	}
	at := 0
	for _, n := range b.Counts[:rank] {
		at += n
	}
	return b.Part(at, b.Counts[rank])
}

// chunks is the parts of n from one on, up to another one.
func chunks(b datatype.Buffer, from, to, n int) datatype.Buffer {
	return b.Part(from*b.Count/n, to*b.Count/n-from*b.Count/n)
}
