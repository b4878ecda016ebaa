package plan

// Table says from how many bytes on, or up to how many, an operation goes another way. All ranks of an operation have
// the same table. Long data is cut into a part for each rank, so that all ranks send and receive at once; short data
// goes in few rounds. The numbers of Default were measured on two cores (docs/measurements); `demo tune` measures
// them for a job.
type Table struct {
	SharedParts  int // in memory, three members and more: from so many bytes of an operand each member combines a part
	Halving      int // an allreduce by messages: from so many bytes of an operand each rank combines a part
	PartedBcast  int // a bcast by messages, four ranks and more: from so many bytes it is scattered, and gathered by all
	PartedReduce int // a reduce by messages, four ranks and more: from so many bytes of an operand each rank combines a part
	ShortGather  int // an allgather by messages: up to so many bytes of all blocks together it goes in as few rounds as can be
	ShortBlock   int // an alltoall by messages, eight ranks and more: up to so many bytes of a block likewise
}

// Default is the Table of a Plan that has none.
var Default = Table{SharedParts: 4 << 10, Halving: 2 << 10, PartedBcast: 64 << 10, PartedReduce: 64 << 10, ShortGather: 16 << 10, ShortBlock: 256}

// From how many ranks on some ways are taken at all.
const (
	fewRanks  = 4 // below, parts gain nothing
	manyRanks = 8 // from here on rounds count more than copies, in an alltoall
)

func (p *Plan) table() *Table {
	if p.Table != nil {
		return p.Table
	}
	return &Default
}
