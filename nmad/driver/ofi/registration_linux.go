//go:build ofi && cgo

package ofi

// registration is memory that the provider was told of, for one transfer, or for all that use the same buffer.
type registration struct {
	mr     *mr
	key    uint64 // of a window
	buf    []byte // if it is kept: so the object lives, and nothing else comes to lie there
	access uint64 // what it is for: forGets, forPuts, forReads, forPeers
	uses   int    // transfers under way
	used   uint64 // when last, by the clock of registrations
}

// registrations are those that are kept for buffers that come again: of Go's memory, where the provider has to
// be told of all buffers (FI_MR_LOCAL), which takes long. No driver hears when other memory is unmapped. A
// window that is kept has the same key for all transfers, until others take its place. Under the lock of the
// port.
type registrations struct {
	kept        map[span]*registration
	bytes       int
	clock       uint64
	found, made uint64 // by transfers
}

// span is where a buffer begins, and what it is registered for.
type span struct {
	at     uintptr
	access uint64
}

// What is kept at most.
const (
	maxKept      = 64
	maxKeptBytes = 64 << 20
)

// register has the provider know buf, for a transfer of this process (forGets, forPuts), or as a window (forReads). It
// gives a registration that is kept, or else single, which the caller holds.
func (p *port) register(single *registration, buf []byte, access uint64) (*registration, error) {
	f, r := p.f, &p.registered
	*single = registration{}
	if !f.local && (access != forReads || f.shm()) {
		return single, nil
	}
	r.clock++
	at := span{uintptr(addressOf(buf)), access}
	old := r.kept[at]
	if old != nil && len(old.buf) >= len(buf) {
		r.found++
		old.uses, old.used = old.uses+1, r.clock
		return old, nil
	}
	r.made++
	if f.local && (old == nil || r.drop(old)) && isGo(buf) && r.room(len(buf)) {
		single = &registration{buf: buf} // which is kept
	}
	single.uses, single.used = 1, r.clock
	err := p.registerNew(single, buf, access)
	if err == nil && single.buf != nil {
		r.kept[at] = single
		r.bytes += len(buf)
	}
	return single, err
}

// registerNew has the provider know buf, under a key that it draws. If the system has no more memory that can be
// locked, registrations that are kept give way.
func (p *port) registerNew(g *registration, buf []byte, access uint64) error {
	g.access, g.key = access, random()&p.f.keyMask
	err := p.f.register(g, buf)
	for err != nil && p.registered.dropOldest() {
		err = p.f.register(g, buf)
	}
	return err
}

// unregister ends the use of a registration by a transfer.
func (g *registration) unregister() {
	if g.mr == nil {
		return
	}
	if g.uses--; g.buf == nil {
		g.close()
	}
}

// drop forgets one that is kept, unless it is in use.
func (r *registrations) drop(g *registration) bool {
	if g.uses > 0 {
		return false
	}
	delete(r.kept, span{uintptr(addressOf(g.buf)), g.access})
	r.bytes -= len(g.buf)
	g.close()
	return true
}

// room makes room for one more.
func (r *registrations) room(bytes int) bool {
	for len(r.kept) >= maxKept || r.bytes+bytes > maxKeptBytes {
		if !r.dropOldest() {
			return false
		}
	}
	return true
}

// dropOldest forgets the one that has not been used for longest.
func (r *registrations) dropOldest() bool {
	var oldest *registration
	for _, g := range r.kept {
		if g.uses == 0 && (oldest == nil || g.used < oldest.used) {
			oldest = g
		}
	}
	return oldest != nil && r.drop(oldest)
}
