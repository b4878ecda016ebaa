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
func (x *contexts) of(number uint16) *match.Matcher[Request, Message] {
	if number == Plain {
		return &x.Matcher
	}
	return &x.made(number).Matcher
}

// MostContexts is in how many contexts but Plain messages of one peer may be that were not opened here: a bound on the
// memory that a peer can have us use.
const MostContexts = 4096

func (x *contexts) find(number uint16) (at int, there bool) {
	return slices.BinarySearchFunc(x.others, number, func(c *context, n uint16) int { return cmp.Compare(c.number, n) })
}

// join has a context, other than Plain, share what is for any source with other gates: it is opened.
func (x *contexts) join(number uint16, any *match.Any[Request]) {
	c := x.made(number)
	c.Join(any)
	if !c.joined {
		c.joined = true
		x.joined++
	}
}

// made is the context of a number, which is made if there is none.
func (x *contexts) made(number uint16) *context {
	if c := x.recent; c != nil && c.number == number {
		return c
	}
	i, there := x.find(number)
	if !there {
		c := &context{number: number}
		c.All = x.All
		c.Init(x.Rank(), x.alone)
		c.Seen, c.Found, c.Stay, c.Within = x.Seen, x.Found, x.Stay, x.Within
		x.others = slices.Insert(x.others, i, c)
	}
	x.recent = x.others[i]
	return x.recent
}

// idle says that nothing waits in a context: no receive, no probe, and no message.
func (x *contexts) idle(number uint16) bool {
	i, there := x.find(number)
	return !there || !x.others[i].Wanted() && x.others[i].Unexpected() == 0
}

// forget forgets a context that is idle.
func (x *contexts) forget(number uint16) {
	if i, there := x.find(number); there && x.idle(number) {
		if x.others[i].joined {
			x.joined--
		}
		x.others = slices.Delete(x.others, i, i+1)
		x.recent = nil
	}
}

// check says what is wrong with a message in a context.
func (x *contexts) check(number uint16) error {
	if number == Plain || len(x.others)-x.joined < MostContexts {
		return nil
	}
	if _, there := x.find(number); there {
		return nil
	}
	return violation("messages in more than %d contexts that are not open here", MostContexts)
}

// all goes over those in use.
func (x *contexts) all(yield func(*match.Matcher[Request, Message]) bool) {
	if !yield(&x.Matcher) {
		return
	}
	for _, c := range x.others {
		if !yield(&c.Matcher) {
			return
		}
	}
}
