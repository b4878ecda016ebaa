package shm

import (
	"fmt"
	"math/bits"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
)

// EnvCopy is the variable that says how often a long message is copied on its way:
// "two" times, through slots; a "single" time, by the kernel, where that may reach
// the other process; or, and so by default, "auto": whichever is measured to be faster.
const EnvCopy = "PM2_SHM_COPY"

// policy is a value of EnvCopy.
type policy uint8

const (
	copyAuto policy = iota
	copyTwo
	copySingle
)

func parsePolicy(text string) (policy, error) {
	switch text {
	case "", "auto":
		return copyAuto, nil
	case "two":
		return copyTwo, nil
	case "single":
		return copySingle, nil
	}
	return 0, fmt.Errorf("%w: %s=%q: it can be auto, two, single", driver.ErrConfig, EnvCopy, text)
}

// The two ways of a message, as the chooser counts them.
const (
	bySlots = iota
	byOffer
)

const (
	// samples of either way are what a choice is made upon: the best of each counts, as whatever
	// disturbs a message makes it slower.
	samples = 6
	// choiceLasts is for how many messages of a size; then it is measured again, since the
	// other process, or the machine, may behave differently by then.
	choiceLasts = 2000
)

// chooser learns which way is the faster one for messages of each size class, from those
// that arrive. It belongs to the caller of PullLarge.
//
// A message is timed from when its first bytes were seen until they have all been
// taken. The first slot was filled before that, while an offer is seen before
// anything is copied; so the time of one slot is added to that of slots.
//
//	measuring --- enough samples of both ---> chosen --- choiceLasts messages ---> measuring
type chooser struct {
	policy policy
	able   bool   // the other process can be read
	ways   uint64 // what the sender knows: slotCredit.ways

	// The message that is arriving.
	size  int
	left  int   // bytes still to come
	slots int   // slots seen
	offer bool  // some of it came by an offer
	start int64 // cycles; 0: nothing was seen yet

	classes [64]sizeClass
}

// sizeClass is what is known of messages of 2^i bytes up to twice that.
type sizeClass struct {
	best [2]int64  // cycles a MiB, by way
	seen [2]uint16 // samples, by way
	left uint16    // chosen: messages until it is measured again
}

// classOf gives the class of messages of n bytes, n > 0.
func classOf(n int) int { return bits.Len(uint(n)) - 1 }

// begin hears of the buffer of a call of PullLarge: the rest of the message, or a new one.
func (c *chooser) begin(n int) {
	if n != c.left {
		c.size, c.left, c.slots, c.offer, c.start = n, n, 0, false, 0
	}
}

// slot hears that a slot was seen, offered that an offer was.
func (c *chooser) slot() {
	if c.slots++; c.start == 0 {
		c.start = asm.Cycles()
	}
}

func (c *chooser) offered() {
	if c.offer = true; c.start == 0 {
		c.start = asm.Cycles()
	}
}

// took hears that n bytes have arrived, and says whether ways has changed.
func (c *chooser) took(n int) (changed bool) {
	if c.left -= n; c.left != 0 || n == 0 {
		return false
	}
	if c.start == 0 || c.policy != copyAuto || !c.able || c.offer && c.slots > 0 {
		return false // it began in the middle, or went both ways
	}
	took := asm.Cycles() - c.start
	if c.offer {
		return c.sample(c.size, byOffer, took)
	}
	return c.sample(c.size, bySlots, took+took/int64(max(c.slots, 1)))
}

// sample takes one in.
func (c *chooser) sample(size, way int, cycles int64) (changed bool) {
	k := classOf(size)
	s := &c.classes[k]
	if s.left > 0 {
		if s.left--; s.left > 0 {
			return false
		}
		*s = sizeClass{}
	}
	rate := cycles * 1024 / (int64(size)/1024 + 1)
	if s.seen[way] == 0 || rate < s.best[way] {
		s.best[way] = rate
	}
	s.seen[way]++
	next := bySlots
	if s.seen[bySlots] >= samples && s.seen[byOffer] >= samples {
		s.left = choiceLasts
		if s.best[byOffer] <= s.best[bySlots] {
			next = byOffer
		}
	} else if s.seen[byOffer] < s.seen[bySlots] {
		next = byOffer
	}
	ways := c.ways&^(1<<k) | uint64(next)<<k
	changed, c.ways = ways != c.ways, ways
	return changed
}

// hopeless hears that an offer of that size was for nothing.
func (c *chooser) hopeless(size int) (changed bool) {
	if c.policy != copyAuto {
		return false
	}
	k := classOf(size)
	c.classes[k] = sizeClass{left: choiceLasts}
	ways := c.ways &^ (1 << k)
	changed, c.ways = ways != c.ways, ways
	return changed
}

// allow says whether the other process can be read, at the beginning and once it turns out
// that it cannot, and gives the ways of from then on.
func (c *chooser) allow(able bool) (ways uint64) {
	c.able, c.ways = able, 0
	if able && c.policy == copySingle {
		c.ways = 1<<64 - 1
	}
	return c.ways
}
