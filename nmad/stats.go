package nmad

// Stats are the counters of a gate, or the sums of those of a domain or a session.
type Stats struct {
	Offloaded  uint64 // submissions by another processor (OffloadIdle); each submits all sends that wait
	Links      uint64 // links that were made: one for each rail of each gate that has needed them
	Sends      uint64 // started
	Recvs      uint64 // started
	Rendezvous uint64 // messages that were announced
	Starved    uint64 // short messages that were announced because the receiver had no memory left
	Loaned     uint64 // messages that were announced as a loan
	Borrowed   uint64 // messages that a receive has got as a loan in the sender's memory
	Unexpected uint64 // messages that came before their receive
	Credits    uint64 // packets that only gave credit back
	Aggregates uint64 // packets sent that held several messages
	Aggregated uint64 // messages in them

	BytesSent     uint64 // in bodies
	BytesReceived uint64 // into buffers of receives

	UnexpectedBytes uint64 // bytes in bodies of unexpected eager messages, now
	UnexpectedPeak  uint64 // the largest UnexpectedBytes of one gate so far

	// Rails counts the bytes of announced messages over each rail. Everything else travels over the first rail.
	Rails [MaxRails]RailStats
}

// RailStats are the counters of the large track of one rail.
type RailStats struct {
	BytesSent      uint64
	BytesReceived  uint64
	ChunksSent     uint64 // parts of messages, or whole ones; complete ones only
	ChunksReceived uint64
}

// add adds the counters of t.
func (st *Stats) add(t Stats) {
	peak := max(st.UnexpectedPeak, t.UnexpectedPeak)
	sums := st.counters()
	for i, n := range t.counters() {
		sums[i] += n
	}
	st.UnexpectedPeak = peak
}

// Stats returns the gate's counters. It takes the gate's lock for a moment.
func (g *Gate) Stats() Stats {
	if !g.valid() {
		return Stats{}
	}
	h := g.lock()
	defer h.unlock()
	x := &h.flow.Stats
	stats := Stats{
		Links: h.linksMade, Sends: x.Sends, Recvs: x.Recvs, Rendezvous: x.Rendezvous, Starved: x.Starved,
		Loaned: x.Loaned, Borrowed: x.Borrowed, Unexpected: x.Unexpected, Credits: x.Credits,
		Aggregates: x.Aggregates, Aggregated: x.Aggregated, BytesSent: x.BytesSent, BytesReceived: x.BytesReceived,
		UnexpectedBytes: x.UnexpectedBytes, UnexpectedPeak: x.UnexpectedPeak,
	}
	if g.offload != nil {
		stats.Offloaded = g.offload.idle.Load()
	}
	for i := range g.rails {
		out, in := g.rails[i].push.stream, g.rails[i].pull.stream
		stats.Rails[i] = RailStats{out.Bytes, in.Bytes, out.Chunks, in.Chunks}
	}
	return stats
}

// Stats returns the sums of the counters of all open domains; after Close, of those that were open then.
func (s *Session) Stats() Stats {
	var sum Stats
	if !s.valid() {
		return sum
	}
	for _, d := range s.domains.open.All() {
		sum.add(d.Stats())
	}
	return sum
}
