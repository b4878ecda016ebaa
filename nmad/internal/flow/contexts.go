package flow

import (
	"cmp"
	"slices"

	"github.com/pm2-go/pm2/nmad/internal/match"
)

// contexts pair messages with receives, those of each context by themselves: a mask, any source, a probe
// and the order of messages stay within one, so what is exact in one is looked up whatever waits in the others.
type contexts struct {
	match.Matcher[Request, Message] // of the context Plain
	others                          []*context
	recent                          *context            // of others: the one that was asked for last; nil: none
	alone                           *match.Any[Request] // of those that were not opened: nothing waits for any source there
	joined                          int                 // of others: those that were opened
	limit                           uint64              // match.Matcher.Within of all
	posted                          int                 // match.Matcher.All of all
}

// context is one other than Plain, in which a message has come, or a receive was posted.
type context struct {
	match.Matcher[Request, Message]
	number uint16
	joined bool // it was opened
}

// of is what pairs the messages of a context.
func (cs *contexts) of(number uint16) *match.Matcher[Request, Message] {
	if number == Plain {
		return &cs.Matcher
	}
	return &cs.made(number).Matcher
}

// MostContexts is in how many contexts but Plain messages of one peer may be that were not opened here: a bound on the
// memory that a peer can have us use.
const MostContexts = 4096

func (cs *contexts) find(number uint16) (at int, there bool) {
	return slices.BinarySearchFunc(cs.others, number, func(c *context, n uint16) int { return cmp.Compare(c.number, n) })
}

// join has a context, other than Plain, share what is for any source with other gates: it is opened.
func (cs *contexts) join(number uint16, any *match.Any[Request]) {
	c := cs.made(number)
	c.Join(any)
	if !c.joined {
		c.joined = true
		cs.joined++
	}
}

// made is the context of a number, which is made if there is none.
func (cs *contexts) made(number uint16) *context {
	if c := cs.recent; c != nil && c.number == number {
		return c
	}
	i, there := cs.find(number)
	if !there {
		c := &context{number: number}
		c.All = cs.All
		c.Init(cs.Rank(), cs.alone)
		c.Seen, c.Found, c.Stay, c.Within = cs.Seen, cs.Found, cs.Stay, cs.Within
		cs.others = slices.Insert(cs.others, i, c)
	}
	cs.recent = cs.others[i]
	return cs.recent
}

// idle says that nothing waits in a context: no receive, no probe, and no message.
func (cs *contexts) idle(number uint16) bool {
	i, there := cs.find(number)
	return !there || !cs.others[i].Wanted() && cs.others[i].Unexpected() == 0
}

// forget forgets a context that is idle.
func (cs *contexts) forget(number uint16) {
	if i, there := cs.find(number); there && cs.idle(number) {
		if cs.others[i].joined {
			cs.joined--
		}
		cs.others = slices.Delete(cs.others, i, i+1)
		cs.recent = nil
	}
}

// check says what is wrong with a message in a context.
func (cs *contexts) check(number uint16) error {
	if number == Plain || len(cs.others)-cs.joined < MostContexts {
		return nil
	}
	if _, there := cs.find(number); there {
		return nil
	}
	return violation("messages in more than %d contexts that are not open here", MostContexts)
}

// all goes over those in use.
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
