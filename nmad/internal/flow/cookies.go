package flow

// cookieTable numbers the rendezvous that are announced, so that the peer's answer leads to its send. Such a number, a
// cookie, is the index of a slot and the generation of that slot, which counts how often the slot was used. So the
// table detects a cookie that it never gave, and one that is used up.
type cookieTable struct {
	slots []cookieSlot
	free  int32 // 1 + index of the first free slot; 0 if none is free
	used  int   // rendezvous in the table
}

type cookieSlot struct {
	rendezvous *rendezvous // nil if the slot is free
	next       int32       // of a free slot: 1 + index of the next free slot; 0 if it is the last
	generation uint16      // number of uses, modulo 2^(32-CookieBits)
}

const (
	CookieBits     = 24              // bits of a cookie that are the index of its slot; the others are the generation
	MaxCookies     = 1 << CookieBits // the largest number of rendezvous in a table
	generationMask = 1<<(32-CookieBits) - 1
)

// put adds v and returns its cookie. The table must have fewer than MaxCookies rendezvous.
func (t *cookieTable) put(v *rendezvous) uint32 {
	if t.free == 0 {
		t.slots = append(t.slots, cookieSlot{})
		t.free = int32(len(t.slots))
	}
	i := t.free - 1
	s := &t.slots[i]
	t.free, s.next = s.next, 0
	s.rendezvous = v
	s.generation = (s.generation + 1) & generationMask
	t.used++
	return uint32(s.generation)<<CookieBits | uint32(i)
}

// find returns the rendezvous of a cookie; nil if the cookie has none.
func (t *cookieTable) find(cookie uint32) *rendezvous {
	i := int(cookie & (MaxCookies - 1))
	if i >= len(t.slots) || uint32(t.slots[i].generation) != cookie>>CookieBits {
		return nil
	}
	return t.slots[i].rendezvous
}

// take removes and returns the rendezvous of a cookie; nil if the cookie has none.
func (t *cookieTable) take(cookie uint32) *rendezvous {
	if t.find(cookie) == nil {
		return nil
	}
	return t.release(int(cookie & (MaxCookies - 1)))
}

// drain removes all rendezvous, and passes them to yield.
func (t *cookieTable) drain(yield func(*rendezvous) bool) {
	for i := range t.slots {
		if t.slots[i].rendezvous != nil && !yield(t.release(i)) {
			return
		}
	}
}

// release frees a slot and returns its rendezvous.
func (t *cookieTable) release(i int) *rendezvous {
	s := &t.slots[i]
	v := s.rendezvous
	s.rendezvous = nil
	s.next = t.free
	t.free = int32(i + 1)
	t.used--
	return v
}
