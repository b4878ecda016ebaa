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
	// Mask says how often a thread that polls its own domain also polls the others that are not Private: at each poll
	// whose count has none of these bits, so at each 512th with 511. It is GASNet's AM_DOMAIN_POLL_MASK. EachPoll
	// stands for each poll. With 0 the thread polls all of them at each 512th poll, and at each second poll those that
	// no thread has polled as its own for 0.1 ms, because their threads compute. So their messages wait little longer
	// than those of the first domain, and a domain that has a thread which polls it stays that thread's.
	Mask uint64

	// Window is how many requests of a domain to a peer may be under way: sent, and not known to be handled. A power
	// of two up to 64; default 32. The same in all processes.
	Window int
	// Medium is the longest body, in bytes, 1 KiB to 16 MiB; default 64 KiB. The same in all processes. A domain keeps,
	// for each peer that it exchanges messages with, Receives buffers of 1 KiB and a quarter as many of Medium, and a
	// buffer for each message that is leaving, up to two Windows.
	Medium int
	// Receives is how many receives are posted for each peer, 4 to 1024; default 32.
	Receives int

	// Budget is how many handlers for a peer's messages one poll runs at most, at least 2 Receives; default 256. The
	// next poll runs more.
	Budget int

	// OnError gets the errors that no call returns: a request or a reply without a handler, a peer that sends malformed
	// messages (ErrMessage). It is called like a handler, so it must not wait. If it is nil, they are only counted
	// (Stats).
	OnError func(error)

	// Memory is where long requests and replies go (Domain.RequestLong): a World of package rma of the same session,
	// which is closed after this one. If it is nil, no long messages are sent, and those that come are refused.
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

// EachPoll is the Mask with which each poll polls all domains.
const EachPoll = 1 << 63

const (
	shortSize  = 1 << 10   // bytes of a short message, arguments included
	maxMedium  = 16 << 20  // bytes
	maxWindow  = 64        // requests; they are numbered modulo 256
	lastNumber = 1<<16 - 1 // of a domain
)

// complete fills in the defaults, and returns an ErrConfig for a value that is not allowed.
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

// DomainConfig configures a domain.
type DomainConfig struct {
	// Number is that of the domain of nmad, 1 to 65535, by which the peers know this one. Nothing else in the process
	// uses it. 0 stands for one above the highest number in use.
	Number int
	// Access is nmad.Shared, nmad.Serialized or nmad.Private. The engine moves a domain on; a Private one only its
	// owner's calls do.
	Access nmad.Access
}

// Limits are the bounds for the messages of a domain.
type Limits struct {
	Args   int // arguments of a message
	Medium int // bytes of a body
	Window int // requests under way to each peer
}

// Stats are the counters of a domain, or of a World.
type Stats struct {
	Handled uint64 // handlers that have run
	Dropped uint64 // messages that were malformed, or had no handler
}
