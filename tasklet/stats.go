package tasklet

// Stats says what a vector has done so far.
type Stats struct {
	Scheduled uint64 // calls of Schedule and ScheduleOn that said true
	Remote    uint64 // of these, for another processor than the caller's, or by a caller that has none
	Refused   uint64 // calls that said false because the tasklet is killed, the vector detached, or there is no such processor
	Run       uint64 // runs that have begun
	Restarts  uint64 // firings, and turns of helpers, that took up what the one before had left
	Handed    uint64 // how often a lane went to a helper thread
}

// counters are those that the holder of a lane's turn writes.
type counters struct{ runs, restarts, helped uint64 }

// Stats adds up what the processors have counted. It never blocks and may be called at any time;
// what happens meanwhile is in it or not. After Kill it has all of that tasklet.
func (v *Vector) Stats() (s Stats) {
	if v == nil {
		return s
	}
	s.Refused = v.refused.Load()
	for i := range v.lanes {
		l := &v.lanes[i]
		s.Scheduled += l.scheduled.Load()
		s.Remote += l.remote.Load()
		c := l.peep()
		s.Run += c.runs
		s.Restarts += c.restarts
		s.Handed += c.helped
	}
	return s
}

// peep reads the counters without the turn: words of 64 bits, which are written by one
// at a time, and which a store that is atomic for the race detector would make dear.
//
//go:norace
func (l *lane) peep() counters { return counters{l.runs, l.restarts, l.helped} }

// count counts what a caller on processor from has scheduled.
func (l *lane) count(from int) {
	l.scheduled.Add(1)
	if from != l.index {
		l.remote.Add(1)
	}
}
