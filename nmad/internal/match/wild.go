package match

import "github.com/pm2-go/pm2/internal/shelf"

// Pattern matches the tags that agree with Tag in all bits that are set in Mask.
type Pattern struct{ Tag, Mask uint64 }

// Exact is the mask of a pattern that matches one tag only.
const Exact = ^uint64(0)

// Matches reports whether p matches a tag.
func (p Pattern) Matches(tag uint64) bool { return (tag^p.Tag)&p.Mask == 0 }

// Wild is the part of a receive or a probe, beside its Entry, by which it waits in a list instead of a table: it has a
// mask, is for any gate, or is a probe.
type Wild[R any] struct {
	recv   *Entry[R] // of the receive, or the probe
	mask   uint64
	Probe  bool // it is a probe: it does not take the message
	listed bool // it is in a list
	node   shelf.Node[Wild[R]]
}

// Set makes w the Wild of r, which is a probe if probe is set. Its pattern is the tag of r and mask. w must be in no
// list.
func (w *Wild[R]) Set(r *Entry[R], mask uint64, probe bool) { w.recv, w.mask, w.Probe = r, mask, probe }

// Pattern returns the pattern of tags for which w waits.
func (w *Wild[R]) Pattern() Pattern { return Pattern{w.recv.Tag, w.mask} }

// Exact reports whether w is a receive of one tag only. Unless it is for any gate it waits in the table.
func (w *Wild[R]) Exact() bool { return w.mask == Exact && !w.Probe }

// wildList lists receives and probes in the order in which they were posted. A message has to walk along the list, so
// exact receives of a gate are never in it.
type wildList[R any] struct{ shelf.List[Wild[R]] }

// push adds w, which must be in no list.
func (l *wildList[R]) push(w *Wild[R]) {
	l.Push(&w.node, w)
	w.listed = true
}

// remove takes w out, and reports whether it was in a list.
func (l *wildList[R]) remove(w *Wild[R]) bool {
	if !w.listed {
		return false
	}
	l.Remove(&w.node)
	w.listed = false
	return true
}

// find returns the first receive, or with probes the first probe, that matches the tag; nil if there is none.
func (l *wildList[R]) find(tag uint64, probes bool) *Wild[R] {
	for w := l.First(); w != nil; w = w.node.Next() {
		if w.Probe == probes && w.Pattern().Matches(tag) {
			return w
		}
	}
	return nil
}
