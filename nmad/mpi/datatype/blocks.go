package datatype

// Blocks is a Buffer with a block for each rank of a group. Without Counts and Types all blocks have Each elements, and
// lie one behind the other. With Counts each block has a length, and perhaps a place. With Types each block also has a
// datatype. The caller sees to it that the blocks lie in the Buffer.
type Blocks struct {
	Buffer                // has all blocks
	Each          int     // how many elements a block has, if there are no Counts
	Counts        []int   // by rank: how many elements its block has
	Displacements []int   // by rank: where its block begins, in elements; nil: where the block before ends
	Bytes         []int   // with Types, by rank: where its block begins, in bytes
	Types         []*Type // by rank: the datatype of its block; nil: all blocks have that of the Buffer
}

// Block returns the block of a rank.
func (bs *Blocks) Block(rank int) Buffer {
	switch {
	case bs.Types != nil:
		return Buffer{Base: bs.Base, At: bs.At + bs.Bytes[rank], Count: bs.Counts[rank], Type: bs.Types[rank]}
	case bs.Counts == nil:
		return bs.Part(rank*bs.Each, bs.Each)
	case bs.Displacements != nil:
		return bs.Part(bs.Displacements[rank], bs.Counts[rank])
	}
	at := 0
	for _, n := range bs.Counts[:rank] {
		at += n
	}
	return bs.Part(at, bs.Counts[rank])
}
