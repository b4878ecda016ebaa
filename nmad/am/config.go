package am

import (
	"cmp"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/internal/contexts"
	"github.com/pm2-go/pm2/nmad/rma"
)

// Config says what a world is like. The zero value is right for most.
type Config struct {
	// Mask says how often a thread that polls its own domain polls the others, too, which any thread may: at each
	// poll whose count has none of these bits, so at each 512th with 511. It is GASNet's AM_DOMAIN_POLL_MASK.
	// EachPoll: always. 0: at each 512th, and at each second poll those that no thread has polled as its own for 0.1
	// ms, as while their threads compute: their messages wait for little longer than the first domain's, and a domain
	// with a thread that polls it stays that thread's.
	Mask uint64

	// Window is how many requests of a domain to a peer may be under way: sent, and not known to be handled. A power
	// of two up to 64; default 32. The same in all processes.
	Window int
	// Medium is the longest body, in bytes, up to 16 MiB; default 64 KiB. The same in all processes. A domain keeps,
	// for each peer that it exchanges messages with, Receives buffers of 1 KiB and a quarter as many of Medium, and
	// as many of those that leave as are under way, up to two Windows.
	Medium   int
	Receives int // posted for each peer, 4 to 1024; default 32

	// Budget is how many handlers for a peer's messages one poll runs at most, at least 2 Receives; default 256. The
	// rest is for the next poll.
	Budget int

	// OnError is told what has no other place to go: a request or a reply without a handler, a peer that sends
	// nonsense (ErrMessage). It is called like a handler. nil: it is counted (Stats).
	OnError func(error)

	// Memory is where long requests and replies go (Domain.RequestLong): a World of package rma of the same session,
	// which is closed after this one. nil: none are sent, and those that come are refused.
	Memory *rma.World

	// Calls is how many served functions run at once in this process; default 1024.
	Calls int
	// Longest is the longest argument, or result, of a call, in bytes; default 64 MiB.
	Longest int

	// Context is the first of four numbers of contexts of the session that the world takes; default 64000. The same
	// in all processes.
	Context int

	adapts bool // Mask was 0
}

// EachPoll is a Mask.
const EachPoll = 1 << 63

const (
	shortSize  = 1 << 10  // bytes of a short message, arguments included
	maxMedium  = 16 << 20 // bytes
	maxWindow  = 64       // of requests that are numbered modulo 256
	lastNumber = 1<<16 - 1
)

// complete fills in what is left out, and says what cannot be.
func (c *Config) complete() error {
	switch c.Mask {
	case 0:
		c.Mask, c.adapts = 511, true
	case EachPoll:
		c.Mask = 0
	}
	c.Window, c.Medium = cmp.Or(c.Window, 32), cmp.Or(c.Medium, 64<<10)
	c.Receives, c.Calls = cmp.Or(c.Receives, 32), cmp.Or(c.Calls, 1024)
	c.Budget, c.Longest = cmp.Or(c.Budget, max(256, 2*c.Receives)), cmp.Or(c.Longest, 64<<20)
	c.Context = cmp.Or(c.Context, contexts.FirstActive)
	switch {
	case c.Window < 1 || c.Window > maxWindow || c.Window&(c.Window-1) != 0:
		return fmt.Errorf("am: %w: Window %d: a power of two up to %d", ErrConfig, c.Window, maxWindow)
	case c.Medium < shortSize || c.Medium > maxMedium:
		return fmt.Errorf("am: %w: Medium %d: %d to %d bytes", ErrConfig, c.Medium, shortSize, maxMedium)
	case c.Receives < 4 || c.Receives > 1024:
		return fmt.Errorf("am: %w: Receives %d: 4 to 1024", ErrConfig, c.Receives)
	case c.Budget < 2*c.Receives:
		return fmt.Errorf("am: %w: Budget %d: at least 2 Receives, %d", ErrConfig, c.Budget, 2*c.Receives)
	case c.Calls < 1 || c.Longest < 1:
		return fmt.Errorf("am: %w: Calls %d, Longest %d: at least 1", ErrConfig, c.Calls, c.Longest)
	case c.Context < 2 || c.Context > contexts.Last-contexts.PerActive:
		return fmt.Errorf("am: %w: Context %d: 2 to %d", ErrConfig, c.Context, contexts.Last-contexts.PerActive)
	}
	return nil
}

// DomainConfig says what a domain is like.
type DomainConfig struct {
	// Number is that of the domain of nmad, 1 to 65535, by which the peers know this one, and which nothing else in
	// the process uses; 0: one above the highest.
	Number int
	// Access is nmad.Shared, Serialized or Private. The engine moves a domain on, unless it is Private: then its
	// owner's calls alone.
	Access nmad.Access
}

// Limits are what the messages of a domain may be.
type Limits struct {
	Args   int // arguments
	Medium int // bytes of a body
	Window int // requests under way, to each peer
}

// Stats are counters.
type Stats struct {
	Handled uint64 // handlers that have run
	Dropped uint64 // messages that no handler was for, or that were malformed
}
