package flow

// cookieTable names the rendezvous that are announced, so that the peer's answer
// finds its send. A cookie is a place in the table and the number of times that
// place was used: one that was never given, was answered, or is made up is found
// out. It is under the lock of its gate.
type cookieTable struct {
	slots []cookieSlot
	free  int32 // 1 + first free slot, 0: none
	used  int
}

type cookieSlot struct {
	of         *rendezvous // nil: free
	next       int32       // free: 1 + next free slot
	generation uint16      // uses so far, wraps
}

// A cookie has CookieBits for the place, the rest for the turn.
const (
	CookieBits     = 24
	MaxCookies     = 1 << CookieBits
	generationMask = 1<<(32-CookieBits) - 1
)

// put names v. The table must hold fewer than MaxCookies.
func (t *cookieTable) put(v *rendezvous) uint32 {
	if t.free == 0 {
		t.slots = append(t.slots, cookieSlot{})
		t.free = int32(len(t.slots))
	}
	i := t.free - 1
	s := &t.slots[i]
	t.free, s.next = s.next, 0
	s.of = v
	s.generation = (s.generation + 1) & generationMask
	t.used++
	return uint32(s.generation)<<CookieBits | uint32(i)
}

// find returns what the cookie names; nil if it names nothing.
func (t *cookieTable) find(cookie uint32) *rendezvous {
	i := int(cookie & (MaxCookies - 1))
	if i >= len(t.slots) || uint32(t.slots[i].generation) != cookie>>CookieBits {
		return nil
	}
	return t.slots[i].of
}

// take returns what the cookie names and forgets it; nil if it names nothing.
func (t *cookieTable) take(cookie uint32) *rendezvous {
	if t.find(cookie) == nil {
		return nil
	}
	return t.release(int(cookie & (MaxCookies - 1)))
}

// takeAny returns some rendezvous and forgets it; nil if there is none. from is
// moved on over the slots that are known to be free.
func (t *cookieTable) takeAny(from *int) *rendezvous {
	for ; *from < len(t.slots); *from++ {
		if t.slots[*from].of != nil {
			return t.release(*from)
		}
	}
	return nil
}

func (t *cookieTable) release(i int) *rendezvous {
	s := &t.slots[i]
	v := s.of
	s.of = nil
	s.next = t.free
	t.free = int32(i + 1)
	t.used--
	return v
}
