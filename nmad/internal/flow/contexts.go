package flow

import (
	"cmp"
	"slices"

	"github.com/pm2-go/pm2/nmad/internal/match"
)

// contexts has a matcher for each context. Masks, receives from any source, probes and the order of messages stay
// within their context. So in a context that has only exact receives a message costs one look into a table, whatever
// waits in the other contexts.
type contexts struct {
	match.Matcher[Request, Message]                         // of the DefaultContext
	others                          []*context              // all other contexts, by number
	recent                          *context                // the one of others that was looked up last; nil at first
	unopened                        *match.AnyList[Request] // for contexts that were not opened: it has no receives
	joined                          int                     // number of others that were opened
	limit                           uint64                  // memory of match.Matcher.AgeLimit of all matchers
	posted                          int                     // memory of match.Matcher.Total of all matchers
}

// context is a context other than DefaultContext in which a message has come, or a receive was posted.
type context struct {
	match.Matcher[Request, Message]
	number uint16
	joined bool // it was opened
}

// matcher returns the matcher of a context.
func (cs *contexts) matcher(number uint16) *match.Matcher[Request, Message] {
	if number == DefaultContext {
		return &cs.Matcher
	}
	return &cs.context(number).Matcher
}

// MaxContexts is the number of contexts that were not opened here, and in which messages of one peer may wait. It
// bounds the memory that a peer can take.
const MaxContexts = 4096

// find returns the index of a context in others, or where to insert it; there reports which.
func (cs *contexts) find(number uint16) (at int, there bool) {
	return slices.BinarySearchFunc(cs.others, number, func(c *context, n uint16) int { return cmp.Compare(c.number, n) })
}

// join opens a context other than DefaultContext: from here on its matcher uses anyList.
func (cs *contexts) join(number uint16, anyList *match.AnyList[Request]) {
	c := cs.context(number)
	c.Join(anyList)
	if !c.joined {
		c.joined = true
		cs.joined++
	}
}

// context returns the context of a number, which it makes if there is none.
func (cs *contexts) context(number uint16) *context {
	if c := cs.recent; c != nil && c.number == number {
		return c
	}
	i, there := cs.find(number)
	if !there {
		c := &context{number: number}
		c.Total = cs.Total
		c.Init(cs.Rank(), cs.unopened)
		c.ProbeFound, c.ReceiveFound, c.KeepFlag, c.AgeLimit = cs.ProbeFound, cs.ReceiveFound, cs.KeepFlag, cs.AgeLimit
		cs.others = slices.Insert(cs.others, i, c)
	}
	cs.recent = cs.others[i]
	return cs.recent
}

// idle reports whether nothing waits in a context: no receive, no probe, and no message.
func (cs *contexts) idle(number uint16) bool {
	i, there := cs.find(number)
	return !there || !cs.others[i].HasPostedOrAny() && cs.others[i].Unexpected() == 0
}

// forget removes a context if it is idle.
func (cs *contexts) forget(number uint16) {
	if i, there := cs.find(number); there && cs.idle(number) {
		if cs.others[i].joined {
			cs.joined--
		}
		cs.others = slices.Delete(cs.others, i, i+1)
		cs.recent = nil
	}
}

// check fails if a message of the peer may not come in a context (MaxContexts).
func (cs *contexts) check(number uint16) error {
	if number == DefaultContext || len(cs.others)-cs.joined < MaxContexts {
		return nil
	}
	if _, there := cs.find(number); there {
		return nil
	}
	return violation("messages in more than %d contexts that are not open here", MaxContexts)
}

// all iterates over the matchers of all contexts.
func (cs *contexts) all(yield func(*match.Matcher[Request, Message]) bool) {
	if !yield(&cs.Matcher) {
		return
	}
	for _, c := range cs.others {
		if !yield(&c.Matcher) {
			return
		}
	}
}
