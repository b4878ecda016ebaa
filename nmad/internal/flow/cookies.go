package flow

// cookieTable numbers the rendezvous that are announced, so that the peer's answer leads to its send. Such a number, a
// cookie, is the index of an entry and the generation of that entry, which counts how often the entry was used. So the
// table detects a cookie that it never gave, and one that is used up.
type cookieTable struct {
	entries []cookieEntry
	free    int32 // 1 + index of the first free entry; 0 if none is free
	used    int   // rendezvous in the table
}

type cookieEntry struct {
	rendezvous *rendezvous // nil if the entry is free
	next       int32       // of a free entry: 1 + index of the next free entry; 0 if it is the last
	generation uint16      // number of uses, modulo 2^(32-CookieBits)
}

const (
	CookieBits     = 24              // bits of a cookie that are the index of its entry; the others are the generation
	MaxCookies     = 1 << CookieBits // the largest number of rendezvous in a table
	generationMask = 1<<(32-CookieBits) - 1
)

// put adds v and returns its cookie. The table must have fewer than MaxCookies rendezvous.
func (t *cookieTable) put(v *rendezvous) uint32 {
	if t.free == 0 {
		t.entries = append(t.entries, cookieEntry{})
		t.free = int32(len(t.entries))
	}
	i := t.free - 1
	s := &t.entries[i]
	t.free, s.next = s.next, 0
	s.rendezvous = v
	s.generation = (s.generation + 1) & generationMask
	t.used++
	return uint32(s.generation)<<CookieBits | uint32(i)
}

// find returns the rendezvous of a cookie; nil if the cookie has none.
func (t *cookieTable) find(cookie uint32) *rendezvous {
	i := int(cookie & (MaxCookies - 1))
	if i >= len(t.entries) || uint32(t.entries[i].generation) != cookie>>CookieBits {
		return nil
	}
	return t.entries[i].rendezvous
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
	for i := range t.entries {
		if t.entries[i].rendezvous != nil && !yield(t.release(i)) {
			return
		}
	}
}

// release frees an entry and returns its rendezvous.
func (t *cookieTable) release(i int) *rendezvous {
	s := &t.entries[i]
	v := s.rendezvous
	s.rendezvous = nil
	s.next = t.free
	t.free = int32(i + 1)
	t.used--
	return v
}
