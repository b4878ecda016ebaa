package tasklet

// state is a tasklet's word; README.md draws it. Its methods are the transitions:
// each returns the next state, to be put in place by compare-and-swap, and what
// the caller that succeeds has to do.
type state uint64

const (
	scheduled state = 1 << iota // has to run once more
	queued                      // linked into its lane, or about to be, by the caller that set it
	running                     // its function is being called
	killed                      // never to begin again; never cleared but by Init
	high                        // goes before those without; constant after Init

	laneShift         = 8
	laneLimit         = 1 << 24 // lanes are numbered below
	laneMask    state = (laneLimit - 1) << laneShift
	oneDisable  state = 1 << 32 // the count is the upper half
	disableMask       = ^(oneDisable - 1)
)

func (s state) has(flag state) bool { return s&flag != 0 }
func (s state) lane() int           { return int(s & laneMask >> laneShift) }
func (s state) disabled() bool      { return s&disableMask != 0 }
func (s state) in(lane int) state   { return s&^laneMask | state(lane)<<laneShift&laneMask }

// rank is the priority of its queue: 0 goes first.
func (s state) rank() int {
	if s.has(high) {
		return 0
	}
	return 1
}

// over tells whether a killed tasklet has nothing left to come.
func (s state) over() bool { return s&(queued|running) == 0 }

// enqueue queues s for lane if it has to run and nothing speaks against it; then
// push is true and the caller must push it there.
func (s state) enqueue(lane int) (next state, push bool) {
	if s&(scheduled|queued|running|killed) != scheduled || s.disabled() {
		return s, false
	}
	return (s | queued).in(lane), true
}

// schedule: it has to run once more, if it can, in lane. Changes nothing if it is
// scheduled already or killed.
func (s state) schedule(lane int) (next state, push bool) {
	if s.has(killed) {
		return s, false
	}
	return (s | scheduled).enqueue(lane)
}

// begin: the firing took it out of its lane. If run, the function is to be called.
// Otherwise it is parked (disabled) or dead (killed).
func (s state) begin() (next state, run bool) {
	s &^= queued
	switch {
	case s.has(killed):
		return s &^ scheduled, false
	case s.disabled():
		return s, false
	}
	return s&^scheduled | running, true
}

// end: the function returned. If it was scheduled while running it is queued again.
func (s state) end(lane int) (next state, push bool) {
	return (s &^ running).enqueue(lane)
}

// drop: it was taken out of its lane in order not to run.
func (s state) drop() state { return s &^ (queued | scheduled) }

// disable: one more. ok is false at the limit of 2^32-1.
func (s state) disable() (next state, ok bool) {
	if s&disableMask == disableMask {
		return s, false
	}
	return s + oneDisable, true
}

// enable: one less; the last one queues what was scheduled meanwhile. ok is false
// if it was not disabled.
func (s state) enable(lane int) (next state, push, ok bool) {
	if !s.disabled() {
		return s, false, false
	}
	next, push = (s - oneDisable).enqueue(lane)
	return next, push, true
}

// kill: it never begins again.
func (s state) kill() state { return s&^scheduled | killed }
