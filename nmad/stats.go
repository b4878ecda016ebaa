package nmad

// Stats counts what has happened on a gate, or on all gates of a session.
type Stats struct {
	Sends      uint64 // started
	Recvs      uint64 // started
	Rendezvous uint64 // messages that were announced first
	Starved    uint64 // of those, short ones for which the receiver had no memory left
	Unexpected uint64 // messages that came before their receive
	Credits    uint64 // packets that only gave back credit
	Aggregates uint64 // packets sent that held several messages
	Aggregated uint64 // messages in them

	BytesSent     uint64 // in bodies
	BytesReceived uint64 // into buffers of receives

	UnexpectedBytes uint64 // now, in bodies of unexpected eager messages
	UnexpectedPeak  uint64 // at most, likewise; of one gate
}

func (s *Stats) add(t Stats) {
	s.Sends += t.Sends
	s.Recvs += t.Recvs
	s.Rendezvous += t.Rendezvous
	s.Starved += t.Starved
	s.Unexpected += t.Unexpected
	s.Credits += t.Credits
	s.Aggregates += t.Aggregates
	s.Aggregated += t.Aggregated
	s.BytesSent += t.BytesSent
	s.BytesReceived += t.BytesReceived
	s.UnexpectedBytes += t.UnexpectedBytes
	s.UnexpectedPeak = max(s.UnexpectedPeak, t.UnexpectedPeak)
}

// Stats returns the gate's counters. It takes the gate's lock for a moment.
func (g *Gate) Stats() Stats {
	g.mu.lock()
	defer g.release()
	return g.stats
}

// Stats returns the counters of all gates together.
func (s *Session) Stats() Stats {
	var sum Stats
	for _, g := range s.gates {
		sum.add(g.Stats())
	}
	return sum
}
