package shm

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
)

// EnvCopy is the variable that says how often a long message is copied on its way: "two" copies it two times, through
// slots; "single" once, by the kernel, if that may reach the other process; "auto", the default, takes whichever is
// measured to be faster.
const EnvCopy = "PM2_SHM_COPY"

// copyPolicy is a value of EnvCopy.
type copyPolicy uint8

const (
	copyAuto copyPolicy = iota
	copyTwo
	copySingle
)

// parsePolicy reads a value of EnvCopy or Driver.Copy. The error is a driver.ErrConfig.
func parsePolicy(text string) (copyPolicy, error) {
	switch text {
	case "", "auto":
		return copyAuto, nil
	case "two":
		return copyTwo, nil
	case "single":
		return copySingle, nil
	}
	return 0, fmt.Errorf("%w: Driver.Copy or %s is %q: it can be auto, two, single", driver.ErrConfig, EnvCopy, text)
}

// The two paths of a long message, as the chooser counts them.
const (
	bySlots = iota
	byOffer
)

const (
	// samples of either path are what a choice is made upon, one path after the other: the median
	// counts, as some messages are disturbed.
	samples = 7
	// settling is how many messages of a path are not counted after a change of the path: they find the caches, and the
	// stream, as the other path has left them.
	settling = 2
	measured = settling + samples
	// A choice lasts for so many messages of a size at first, four times as many each time that it is
	// confirmed, up to choiceLasts: a wrong one is soon corrected, and the other process, or the
	// machine, may behave differently by then.
	firstLasts  = 32
	choiceLasts = 2048
	// What was chosen stays unless the other path takes an eighth less.
	challenge = 8
)

// longClass is the class from which on offers are measured first. Through slots such a message is
// hundreds of laps of the ring. Where other programs use the processors, each lap can cost a time slice of either
// process, and the first message should not pay for all of them. On idle processors these few
// messages take up to half as long again.
const longClass = 23 // 8 MiB

// firstPath returns the path that is measured first for messages of a class.
func firstPath(class int) int {
	if class >= longClass {
		return byOffer
	}
	return bySlots
}

// chooser learns which path is faster for messages of each size class, from those that arrive. It belongs to the
// caller of Pull.
//
// It times a message from the first call of Pull for it until all of it has arrived. In a stream of messages these
// times add up to the time of the stream. A single message is requested and awaited in the same way whichever path
// it takes, so single messages can be compared, too.
//
//	measuring slots --- enough samples ---> measuring offers --- enough samples ---> chosen
//	       ^                                                                           |
//	       '------------------------ firstLasts to choiceLasts messages ---------------'
//
// Of long messages (longClass) it measures offers first, then slots.
//
// It does not count messages in the first lap of the slots: there the kernel provides the memory of each slot when
// either side first touches it, which takes longer than the copies.
type chooser struct {
	policy    copyPolicy
	canRead   bool   // this process can read the peer's memory
	slotsWarm bool   // all slots were used before
	offers    uint64 // what the sender knows: slotCredit.offers

	// The message that is arriving.
	size  int     // bytes
	rest  int     // bytes still to come
	via   [2]bool // some of it came by that path
	start int64   // of the message; cycles

	classes [64]sizeClass
}

// sizeClass is what the chooser knows of messages of 2^i bytes up to twice that.
type sizeClass struct {
	cycles    [2][samples]int64 // for each MiB, by path
	counted   [2]uint8          // messages measured, by path
	chosen    uint8             // path, if validFor is not 0
	validFor  uint16            // for how many messages it was chosen; 0: nothing was chosen yet
	remaining uint16            // messages until both paths are measured again
}

// classOf returns the class of messages of n bytes, n > 0.
func classOf(n int) int { return bits.Len(uint(n)) - 1 }

// startMessage is called with the length of the buffer of each call of Pull: the rest of a message, or a new one.
func (ch *chooser) startMessage(n int) {
	if n != ch.rest {
		ch.size, ch.rest, ch.via, ch.start = n, n, [2]bool{}, asm.Cycles()
	}
}

// arrived notes that n bytes have arrived, and reports whether offers has changed.
func (ch *chooser) arrived(n int) (changed bool) {
	if ch.rest -= n; ch.rest != 0 || n == 0 || ch.policy != copyAuto || !ch.canRead {
		return false
	}
	switch ch.via {
	case [2]bool{bySlots: true}:
		return ch.slotsWarm && ch.sample(ch.size, bySlots, asm.Cycles()-ch.start)
	case [2]bool{byOffer: true}:
		return ch.sample(ch.size, byOffer, asm.Cycles()-ch.start)
	}
	return false
}

// sample notes how long a message of that size took by a path, and reports whether offers has changed.
func (ch *chooser) sample(size, path int, cycles int64) (changed bool) {
	k := classOf(size)
	s := &ch.classes[k]
	if s.remaining > 0 {
		if s.remaining--; s.remaining > 0 {
			return false
		}
		s.counted = [2]uint8{}
	}
	if n := s.counted[path]; n < measured {
		if n >= settling {
			s.cycles[path][n-settling] = cycles * 1024 / (int64(size)/1024 + 1)
		}
		s.counted[path]++
	}
	next := firstPath(k)
	if s.counted[next] == measured {
		next = 1 - next
	}
	if s.counted[next] == measured {
		next = int(s.choose())
	}
	return ch.setOffers(ch.offers&^(1<<k) | uint64(next)<<k)
}

// choose chooses a path when both were measured.
func (sc *sizeClass) choose() uint8 {
	slots, offers := median(&sc.cycles[bySlots]), median(&sc.cycles[byOffer])
	path := sc.chosen
	switch {
	case sc.validFor == 0 && offers <= slots:
		path = byOffer
	case sc.validFor == 0:
	case path == bySlots && offers < slots-slots/challenge:
		path = byOffer
	case path == byOffer && slots < offers-offers/challenge:
		path = bySlots
	}
	if sc.validFor != 0 && path == sc.chosen {
		sc.validFor = min(4*sc.validFor, choiceLasts)
	} else {
		sc.validFor = firstLasts
	}
	sc.chosen, sc.remaining = path, sc.validFor
	return path
}

// median sorts the samples and returns the one in the middle.
func median(took *[samples]int64) int64 {
	slices.Sort(took[:])
	return took[samples/2]
}

// setOffers sets what the sender is to know, and reports whether that has changed.
func (ch *chooser) setOffers(offers uint64) (changed bool) {
	changed, ch.offers = offers != ch.offers, offers
	return changed
}

// offerUseless notes that an offer of that size was in vain, and reports whether offers has changed.
func (ch *chooser) offerUseless(size int) (changed bool) {
	if ch.policy != copyAuto {
		return false
	}
	k := classOf(size)
	ch.classes[k].remaining = choiceLasts
	return ch.setOffers(ch.offers &^ (1 << k))
}

// setCanRead notes whether this process can read the peer's memory: at the beginning, and when it turns out that
// it cannot. It returns the new offers.
func (ch *chooser) setCanRead(able bool) (offers uint64) {
	ch.canRead, ch.offers = able, 0
	switch {
	case able && ch.policy == copySingle:
		ch.offers = 1<<64 - 1
	case able && ch.policy == copyAuto:
		ch.offers = 1<<64 - 1<<longClass
	}
	return ch.offers
}
