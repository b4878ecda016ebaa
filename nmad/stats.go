package nmad

// Stats are the counters of a gate, or of all gates of a domain or a session.
type Stats struct {
	Offloaded  uint64 // submissions that an idle processor was given (OffloadIdle); each takes in all sends that wait
	Links      uint64 // that were made: one for each rail, once the gate has needed them
	Sends      uint64 // started
	Recvs      uint64 // started
	Rendezvous uint64 // messages that were announced first
	Starved    uint64 // of those, short ones for which the receiver had no memory left
	Loaned     uint64 // messages that were announced as a loan
	Borrowed   uint64 // messages that a receive was given where their sender has them
	Unexpected uint64 // messages that came before their receive
	Credits    uint64 // packets that only gave back credit
	Aggregates uint64 // packets sent that held several messages
	Aggregated uint64 // messages in them

	BytesSent     uint64 // in bodies
	BytesReceived uint64 // into buffers of receives

	UnexpectedBytes uint64 // now, in bodies of unexpected eager messages
	UnexpectedPeak  uint64 // at most, likewise; of one gate

	// Rails counts what announced messages have moved over each rail, in the order of
	// Config.Rails. All else travels over the first rail.
	Rails [MaxRails]RailStats
}

// RailStats are the counters of the large track of one rail.
type RailStats struct {
	BytesSent      uint64
	BytesReceived  uint64
	ChunksSent     uint64 // parts of messages, or whole ones; complete ones only
	ChunksReceived uint64
}

func (st *Stats) add(t Stats) {
	peak := max(st.UnexpectedPeak, t.UnexpectedPeak)
	more := t.counters()
	for i, n := range st.counters() {
		*n += *more[i]
	}
	st.UnexpectedPeak = peak
}

// counters are all numbers of the Stats.
func (st *Stats) counters() []*uint64 {
	all := []*uint64{
		&st.Offloaded, &st.Links, &st.Sends, &st.Recvs, &st.Rendezvous, &st.Starved, &st.Loaned, &st.Borrowed, &st.Unexpected,
		&st.Credits, &st.Aggregates, &st.Aggregated, &st.BytesSent, &st.BytesReceived, &st.UnexpectedBytes, &st.UnexpectedPeak,
	}
	for i := range st.Rails {
		r := &st.Rails[i]
		all = append(all, &r.BytesSent, &r.BytesReceived, &r.ChunksSent, &r.ChunksReceived)
	}
	return all
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

// Stats returns the counters of all gates of all open domains together.
func (s *Session) Stats() Stats {
	var sum Stats
	if !s.valid() {
		return sum
	}
	for _, d := range s.domains.all() {
		sum.add(d.Stats())
	}
	return sum
}
