package nmad

import "github.com/pm2-go/pm2/nmad/internal/contexts"

// Notes for a context that this process has not opened yet: its peers may have, and may revoke it, or agree there, before. What they have said then is taken in when the context is opened.

// earlyMost is of how many contexts notes are kept at most, of each peer's share of them. A peer that sends more breaks no rule, but is not listened to.
const earlyMost = 1 << 16

// early is what has come for one context. In its first agreement a process says one thing to a process that has no part in it yet, its STATE; what follows waits for that one's own.
type early struct {
	revoked bool
	states  map[int]note // by rank
	by      int          // rank that was the first to send
}

// keep keeps a note for a context that is not open here, and was not before. False: it is, or was.
func (cs *consensus) keep(rank int, n note) bool {
	d := cs.s.zero()
	if n.of == 0 || !d.awaits(n.of) {
		return false
	}
	e := cs.early[n.of]
	if e == nil {
		sent := 0
		for _, x := range cs.early {
			if x.by == rank {
				sent++
			}
		}
		if sent >= max(earlyMost/cs.size(), 16) {
			return true
		}
		e = &early{states: map[int]note{}, by: rank}
		cs.early[n.of] = e
		cs.kept.Store(int32(len(cs.early)))
	}
	if _, twice := e.states[rank]; n.kind == noteState && !twice {
		e.states[rank] = n
	}
	e.revoked = e.revoked || n.kind == noteRevoke
	if !d.awaits(n.of) { // OpenContext has looked at kept before, perhaps
		cs.opened(n.of)
	}
	return true
}

// opened takes in what has come for a context before it was opened.
func (cs *consensus) opened(of uint16) {
	e := cs.early[of]
	x := cs.s.zero().context(of)
	if e == nil {
		return
	}
	delete(cs.early, of)
	cs.kept.Store(int32(len(cs.early)))
	if x == nil {
		return // it was closed again
	}
	for rank := range cs.size() {
		if n, ok := e.states[rank]; ok && x.any.Group().Has(rank) {
			if r := cs.round(of); r != nil { // nil: it was closed just now
				r.agreement.hear(rank, n)
			}
		}
	}
	if e.revoked {
		cs.revoke(x)
	}
}

// awaits says that a context is not open, and was not before.
func (d *Domain) awaits(number uint16) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used == nil || d.used[number/64]>>(number%64)&1 == 0
}

// use notes that a context is, or was, open. Under mu.
func (d *Domain) use(number uint16) {
	if d.used == nil {
		d.used = make([]uint64, (contexts.Last+1)/64)
	}
	d.used[number/64] |= 1 << (number % 64)
}
