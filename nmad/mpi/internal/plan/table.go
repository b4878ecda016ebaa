package plan

// Table says from how many bytes on, or up to how many, an operation takes another route. All ranks of an operation
// have the same table. Long data is cut into a part for each rank, so that all ranks send and receive at the same time;
// short data goes in few rounds. The numbers of Default were measured on two cores (docs/measurements); `demo tune`
// measures them for a job. All numbers are in bytes.
type Table struct {
	SharedParts  int // a reduction in memory, of three members and more: from this size of an operand on each member combines a part
	Halving      int // an allreduce by messages: from this size of an operand on each rank combines a part
	PartedBcast  int // a bcast by messages, of four ranks and more: from this size on root scatters the data, and all gather it
	PartedReduce int // a reduce by messages, of four ranks and more: from this size of an operand on each rank combines a part
	ShortGather  int // an allgather by messages: up to this size of all blocks together it takes the fewest rounds
	ShortBlock   int // an alltoall by messages, of eight ranks and more: up to this size of a block it takes the fewest rounds
}

// Default is the Table of a Plan that has none.
var Default = Table{SharedParts: 4 << 10, Halving: 2 << 10, PartedBcast: 64 << 10, PartedReduce: 64 << 10, ShortGather: 16 << 10, ShortBlock: 256}

// From how many ranks on some routes are taken at all.
const (
	fewRanks  = 4 // fewer ranks gain nothing by parts
	manyRanks = 8 // with so many ranks rounds cost an alltoall more than copies
)

// table returns the table that the plan goes by.
func (p *Plan) table() *Table {
	if p.Table != nil {
		return p.Table
	}
	return &Default
}
