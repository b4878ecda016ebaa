package plan

import (
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// Hosts says on which hosts the ranks of a group are, as one rank sees it. The ranks of a host are its members, and
// share memory. The first member of each host, its leader, sends messages to the other leaders. Plans of two levels
// combine both. Hosts are numbered by their first ranks.
type Hosts struct {
	Members           // of this rank's host
	Host       int    // the number of this rank's host
	Leaders    []int  // ranks, by host
	Of         []Seat // by rank
	Contiguous bool   // the ranks of each host follow each other
}

// Seat is the place of a rank: the number of its host, and its number among the members there.
type Seat struct{ Host, Member int }

// HostsOf returns the Hosts of a rank. hosts has any number that stands for a host, by rank; piece and slots are those
// of Members.
func HostsOf(rank int, hosts []int, piece, slots int) Hosts {
	h := Hosts{Of: make([]Seat, len(hosts)), Contiguous: true}
	number := map[int]int{} // of a host
	var sizes []int
	for r, name := range hosts {
		n, known := number[name]
		if !known {
			n = len(h.Leaders)
			number[name] = n
			h.Leaders, sizes = append(h.Leaders, r), append(sizes, 0)
		}
		h.Of[r] = Seat{n, sizes[n]}
		sizes[n]++
		h.Contiguous = h.Contiguous && n == len(h.Leaders)-1
	}
	h.Host = h.Of[rank].Host
	h.Members = Members{Me: h.Of[rank].Member, Size: sizes[h.Host], Piece: piece, Slots: slots}
	return h
}

// phasePieces is how many numbers of pieces a phase of the plan for members has.
const phasePieces = 1 << 20

// nextPhase begins another phase of the plan for members, when this member has read all pieces of the phase before.
func (p *Plan) nextPhase() {
	p.base += phasePieces
	p.release(-1)
}

// leads plans messages among the leaders; other ranks have no steps in that. messages gets the number of this host, and
// how many hosts there are.
func (p *Plan) leads(h *Hosts, messages func(host, hosts int)) {
	if h.Me == 0 {
		p.ranks = h.Leaders
		messages(h.Host, len(h.Leaders))
		p.ranks = nil
	}
}

// HostsBarrier is Barrier of two levels.
func (p *Plan) HostsBarrier(h *Hosts) {
	p.GatherIn(h.Members)
	p.leads(h, p.Barrier)
	p.LetGo(h.Members)
}

// HostsBcast is Bcast of two levels.
func (p *Plan) HostsBcast(h *Hosts, root int, b datatype.Buffer) {
	p.Shares = true
	seat := h.Of[root]
	if seat.Host == h.Host && h.Size > 1 {
		p.SharedBcast(h.Members, seat.Member, b)
	}
	p.leads(h, func(host, hosts int) { p.Bcast(host, hosts, seat.Host, b) })
	if seat.Host != h.Host && h.Size > 1 {
		p.SharedBcast(h.Members, 0, b)
	}
}

// HostsReduce is Reduce of two levels.
func (p *Plan) HostsReduce(h *Hosts, root int, op *reduce.Op, in, out datatype.Buffer) {
	if in.Type == nil {
		in = out
	}
	seat, sum := h.Of[root], in
	if h.Me == 0 && h.Size > 1 {
		sum = p.room(in.Count, in.Type)
	}
	p.localReduce(h, op, in, sum)
	result := out
	if h.Me == 0 && h.Of[root] != (Seat{h.Host, 0}) {
		result = p.room(in.Count, in.Type)
	}
	p.leads(h, func(host, hosts int) { p.Reduce(host, hosts, seat.Host, op, sum, result) })
	if seat.Host == h.Host && seat.Member != 0 {
		p.nextPhase()
		p.pass(h.Members, 0, seat.Member, result)
	}
}

// localReduce combines the operands of the members of a host, and stores the result in sum at the leader.
func (p *Plan) localReduce(h *Hosts, op *reduce.Op, in, sum datatype.Buffer) {
	p.Shares = true
	if h.Size > 1 {
		p.SharedReduce(h.Members, 0, op, in, sum)
	} else if in != sum {
		p.copy(in, sum)
	}
}

// pass copies b of one member to b of another one.
func (p *Plan) pass(m Members, from, to int, b datatype.Buffer) {
	all := b.Size()
	for i := range max(m.count(all), 1) {
		switch m.Me {
		case from:
			p.publish(i, to, b, i*m.Piece, m.size(i, all))
		case to:
			p.take(from, i, b, i*m.Piece, m.size(i, all))
			p.release(i)
		}
	}
}

// HostsAllreduce is Allreduce of two levels.
func (p *Plan) HostsAllreduce(h *Hosts, op *reduce.Op, in, out datatype.Buffer) {
	if in.Type == nil {
		in = out
	}
	p.localReduce(h, op, in, out)
	p.leads(h, func(host, hosts int) { p.Allreduce(host, hosts, op, datatype.Buffer{}, out) })
	if h.Size > 1 {
		p.nextPhase()
		p.SharedBcast(h.Members, 0, out)
	}
}

// HostsAllgather is Allgather of two levels, for equal blocks, and Hosts that are Contiguous.
func (p *Plan) HostsAllgather(h *Hosts, in datatype.Buffer, out *datatype.Blocks) {
	p.Shares = true
	first := h.Leaders[h.Host]
	if h.Size > 1 {
		local := *out
		local.Buffer, local.Each = out.Part(first*out.Each, h.Size*out.Each), out.Each
		if in.Type == nil {
			in = out.Block(first + h.Me)
		}
		p.SharedGather(h.Members, 0, in, &local)
	} else if in.Type != nil {
		p.copy(in, out.Block(first))
	}
	p.leads(h, func(host, hosts int) {
		byHost := datatype.Blocks{Buffer: out.Buffer, Counts: make([]int, hosts)}
		for i, leader := range h.Leaders {
			behind := len(h.Of)
			if i+1 < hosts {
				behind = h.Leaders[i+1]
			}
			byHost.Counts[i] = (behind - leader) * out.Each
		}
		p.Allgather(host, hosts, datatype.Buffer{}, &byHost)
	})
	if h.Size > 1 {
		p.nextPhase()
		p.SharedBcast(h.Members, 0, out.Part(0, len(h.Of)*out.Each))
	}
}
