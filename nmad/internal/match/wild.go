package match

import "github.com/pm2-go/pm2/internal/shelf"

// Pattern says which messages a receive or a probe is for: those whose tags agree with Tag in all
// bits that are set in Mask.
type Pattern struct{ Tag, Mask uint64 }

// Exact is the mask that leaves no choice.
const Exact = ^uint64(0)

// Matches says whether p is for messages with that tag.
func (p Pattern) Matches(tag uint64) bool { return (tag^p.Tag)&p.Mask == 0 }

// Wild is what a receive, or a probe, has beside its Entry if it waits for a message that it does not name exactly: it
// has a mask, is for any gate, or does not take the message.
type Wild[R any] struct {
	recv   *Entry[R]
	mask   uint64
	Probe  bool // not a receive but a probe
	listed bool // it is in a list
	node   shelf.Node[Wild[R]]
}

// Set has w wait for messages that agree with the tag of r in all bits of mask; probe: without taking the message. It must
// be in no list.
func (w *Wild[R]) Set(r *Entry[R], mask uint64, probe bool) { w.recv, w.mask, w.Probe = r, mask, probe }

// Pattern is what w is for.
func (w *Wild[R]) Pattern() Pattern { return Pattern{w.recv.Tag, w.mask} }

// Exact says that w names its tag and takes the message: what needs no list unless it is for any gate.
func (w *Wild[R]) Exact() bool { return w.mask == Exact && !w.Probe }

// wildList holds them in the order in which they were posted; a message takes a walk along it, so exact
// receives are never in it.
type wildList[R any] struct{ shelf.List[Wild[R]] }

func (l *wildList[R]) push(w *Wild[R]) {
	l.Push(&w.node, w)
	w.listed = true
}

// remove takes w out and says whether it was there.
func (l *wildList[R]) remove(w *Wild[R]) bool {
	if !w.listed {
		return false
	}
	l.Remove(&w.node)
	w.listed = false
	return true
}

// find returns the first receive, or the first probe, for that tag.
func (l *wildList[R]) find(tag uint64, probes bool) *Wild[R] {
	for w := l.First(); w != nil; w = w.node.Next() {
		if w.Probe == probes && w.Pattern().Matches(tag) {
			return w
		}
	}
	return nil
}
