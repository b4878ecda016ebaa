package rma

import "fmt"

// Explain says, in one line for people, which way operations at a Ref go from here, and why: in this process, mapped,
// by copies of the kernel, or by messages. It waits for the target, and fails, as a first use of the memory does.
func (d *Domain) Explain(at Ref) (string, error) {
	try := attempt{"explanation", at, 0}
	r, err := d.plan(try)
	if err != nil {
		return "", err
	}
	p, way := &d.peers[at.rank], ""
	switch {
	case int(at.rank) == d.w.rank:
		way = "own memory: loads and stores"
	case r.base != nil:
		way = "mapped: loads and stores of this core"
	case r.address != 0 && p.kernel.Load() == kernelCopies:
		way = "not mapped: put and get by copies of the kernel; atomics and signals by messages"
	case p.ways.knows(at, 1<<63) != nil:
		way = fmt.Sprintf("put and get of %d B and more by the network itself, %d so far; shorter ones, atomics and signals by messages",
			p.ways.link.Load().from, p.ways.moves.Load())
	default:
		way = "by messages, since " + d.w.apart(p, r, at)
	}
	return fmt.Sprintf("rank %d, memory %d, %d B: %s", at.rank, at.index, r.size, way), nil
}

// apart says why memory of another process is reached by messages alone.
func (w *World) apart(p *peer, r *region, at Ref) string {
	switch {
	case r.mapErr != nil:
		return fmt.Sprintf("it cannot be mapped: %v", r.mapErr)
	case p.mapErr != nil:
		return fmt.Sprintf("memory of its process cannot be mapped: %v", p.mapErr)
	case p.page == nil && w.s.HostOf(int(at.rank)) != w.s.HostOf(w.rank):
		return "its process is on another host"
	case p.page == nil:
		return "messages to its process do not go through memory that both share"
	case p.kernel.Load() == kernelRefuses:
		return "it is not mapped, and the kernel does not copy between the two processes"
	}
	return "its process gives no other way"
}
