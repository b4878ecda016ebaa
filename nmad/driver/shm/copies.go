package shm

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
)

// EnvCopy is the variable that says how often a long message is copied on its way: "two" copies it two times, through
// slots; "single" once, by the kernel, if that may reach the other process; "auto", the default, takes the way that is
// measured to be faster.
const EnvCopy = "PM2_SHM_COPY"

// copyPolicy is a value of EnvCopy.
type copyPolicy uint8

const (
	copyAuto copyPolicy = iota
	copyTwo
	copySingle
)

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

// The two ways of a message, as the chooser counts them.
const (
	bySlots = iota
	byOffer
)

const (
	// samples of either way are what a choice is made upon, one way after the other: the median
	// counts, as some messages are disturbed.
	samples = 7
	// settling is how many messages of a way are not counted after a change of the way: they find the caches, and the
	// stream, as the other way has left them.
	settling = 2
	measured = settling + samples
	// A choice lasts for so many messages of a size at first, four times as many each time that it is
	// confirmed, up to choiceLasts: a wrong one is soon corrected, and the other process, or the
	// machine, may behave differently by then.
	firstLasts  = 32
	choiceLasts = 2048
	// What was chosen stays unless the other way takes an eighth less.
	challenge = 8
)

// longClass is the class from which on offers are measured first. Through slots such a message is
// hundreds of laps of the ring. Where other programs use the processors, each lap can cost a time slice of either
// process, and the first message should not pay for all of them. On idle processors these few
// messages take up to half as long again.
const longClass = 23 // 8 MiB

// before is the way that is measured first.
func before(class int) int {
	if class >= longClass {
		return byOffer
	}
	return bySlots
}

// chooser learns which way is the faster one for messages of each size class, from those
// that arrive. It belongs to the caller of Pull.
//
// A message is timed from when Pull was first called for it until all of it has been
// taken: in a stream of messages the times add up to what the stream takes, and a single
// one is asked for and awaited the same way whichever way it comes.
//
//	measuring slots --- enough samples ---> measuring offers --- enough samples ---> chosen
//	       ^                                                                           |
//	       '------------------------ firstLasts to choiceLasts messages ---------------'
//
// Of long messages (longClass) offers are measured first, then slots.
//
// Messages in the first lap of the slots are not counted: there the kernel provides the memory of
// each slot when it is touched, on either side, which takes longer than the copies.
type chooser struct {
	policy copyPolicy
	able   bool   // the other process can be read
	warm   bool   // all slots were used before
	ways   uint64 // what the sender knows: slotCredit.ways

	// The message that is arriving.
	size  int
	left  int     // bytes still to come
	came  [2]bool // some of it came by that way
	start int64   // cycles

	classes [64]sizeClass
}

// sizeClass is what is known of messages of 2^i bytes up to twice that.
type sizeClass struct {
	took  [2][samples]int64 // cycles a MiB, by way
	seen  [2]uint8          // messages since it is being measured, by way
	way   uint8             // chosen, if lasts is not 0
	lasts uint16            // for how many messages that was; 0: nothing was chosen yet
	left  uint16            // chosen: messages until it is measured again
}

// classOf gives the class of messages of n bytes, n > 0.
func classOf(n int) int { return bits.Len(uint(n)) - 1 }

// startMessage hears of the buffer of a call of Pull: the rest of the message, or a new one.
func (ch *chooser) startMessage(n int) {
	if n != ch.left {
		ch.size, ch.left, ch.came, ch.start = n, n, [2]bool{}, asm.Cycles()
	}
}

// took hears that n bytes have arrived, and says whether ways has changed.
func (ch *chooser) took(n int) (changed bool) {
	if ch.left -= n; ch.left != 0 || n == 0 || ch.policy != copyAuto || !ch.able {
		return false
	}
	switch ch.came {
	case [2]bool{bySlots: true}:
		return ch.warm && ch.sample(ch.size, bySlots, asm.Cycles()-ch.start)
	case [2]bool{byOffer: true}:
		return ch.sample(ch.size, byOffer, asm.Cycles()-ch.start)
	}
	return false
}

// sample takes one in.
func (ch *chooser) sample(size, way int, cycles int64) (changed bool) {
	k := classOf(size)
	s := &ch.classes[k]
	if s.left > 0 {
		if s.left--; s.left > 0 {
			return false
		}
		s.seen = [2]uint8{}
	}
	if n := s.seen[way]; n < measured {
		if n >= settling {
			s.took[way][n-settling] = cycles * 1024 / (int64(size)/1024 + 1)
		}
		s.seen[way]++
	}
	next := before(k)
	if s.seen[next] == measured {
		next = 1 - next
	}
	if s.seen[next] == measured {
		next = int(s.choose())
	}
	return ch.set(ch.ways&^(1<<k) | uint64(next)<<k)
}

// choose settles upon a way when both were measured.
func (sc *sizeClass) choose() uint8 {
	slots, offers := median(&sc.took[bySlots]), median(&sc.took[byOffer])
	way := sc.way
	switch {
	case sc.lasts == 0 && offers <= slots:
		way = byOffer
	case sc.lasts == 0:
	case way == bySlots && offers < slots-slots/challenge:
		way = byOffer
	case way == byOffer && slots < offers-offers/challenge:
		way = bySlots
	}
	if sc.lasts != 0 && way == sc.way {
		sc.lasts = min(4*sc.lasts, choiceLasts)
	} else {
		sc.lasts = firstLasts
	}
	sc.way, sc.left = way, sc.lasts
	return way
}

// median sorts, and gives the one in the middle.
func median(took *[samples]int64) int64 {
	slices.Sort(took[:])
	return took[samples/2]
}

// set notes what the sender is to know, and says whether that is new.
func (ch *chooser) set(ways uint64) (changed bool) {
	changed, ch.ways = ways != ch.ways, ways
	return changed
}

// hopeless hears that an offer of that size was for nothing.
func (ch *chooser) hopeless(size int) (changed bool) {
	if ch.policy != copyAuto {
		return false
	}
	k := classOf(size)
	ch.classes[k].left = choiceLasts
	return ch.set(ch.ways &^ (1 << k))
}

// allow says whether the other process can be read, at the beginning and once it turns out
// that it cannot, and gives the ways of from then on.
func (ch *chooser) allow(able bool) (ways uint64) {
	ch.able, ch.ways = able, 0
	switch {
	case able && ch.policy == copySingle:
		ch.ways = 1<<64 - 1
	case able && ch.policy == copyAuto:
		ch.ways = 1<<64 - 1<<longClass
	}
	return ch.ways
}
