package datatype

// Blocks is a Buffer with a block for each rank of a group: equal ones of Each elements, or such of Counts, which begin at Places; with Types each block has one of its own. The caller
// sees to it that the blocks lie in the Buffer.
type Blocks struct {
	Buffer         // the first block is at its beginning; Count is that of all
	Each   int     // elements of a block, if there are no Counts
	Counts []int   // elements of each block
	Places []int   // where each block begins, in elements; nil: where the one before ends
	Bytes  []int   // where each block begins, in bytes, of blocks with Types
	Types  []*Type // of each block, in place of that of the buffer
}

// Block is that of a rank.
func (bs *Blocks) Block(rank int) Buffer {
	switch {
	case bs.Types != nil:
		return Buffer{Base: bs.Base, At: bs.At + bs.Bytes[rank], Count: bs.Counts[rank], Type: bs.Types[rank]}
	case bs.Counts == nil:
		return bs.Part(rank*bs.Each, bs.Each)
	case bs.Places != nil:
		return bs.Part(bs.Places[rank], bs.Counts[rank])
	}
	at := 0
	for _, n := range bs.Counts[:rank] {
		at += n
	}
	return bs.Part(at, bs.Counts[rank])
}
