package shm

import (
	"errors"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
)

// play has messages of n bytes arrive as the chooser wants them, which take so many
// cycles by either path, and says how many of the last ones came by an offer.
func play(c *chooser, n, messages int, cycles [2]int64) (offers int) {
	for range messages {
		path := int(c.offers >> classOf(n) & 1)
		offers += path
		c.sample(n, path, cycles[path])
	}
	return offers
}

func TestChooser(t *testing.T) {
	var c chooser
	const long, short, longest = 1 << 20, 64 << 10, 1 << 30
	if offers := c.setCanRead(true); offers>>classOf(long)&1 != 0 || offers>>classOf(longest)&1 == 0 || offers>>classOf(8<<20-1)&1 != 0 || offers>>classOf(8<<20)&1 == 0 {
		t.Errorf("begins with %#x", offers)
	}
	// Of the longest offers are measured first; the better path is found all the same.
	if n := play(&c, longest, measured, [2]int64{40e6, 60e6}); n != measured {
		t.Errorf("%d of the first %d longest messages were offered", n, measured)
	}
	if n := play(&c, longest, measured, [2]int64{40e6, 60e6}); n != 0 {
		t.Errorf("%d of %d were offered while slots were measured", n, measured)
	}
	if n := play(&c, longest, firstLasts-1, [2]int64{40e6, 60e6}); n != 0 {
		t.Errorf("%d of %d of the longest went the worse path", n, firstLasts-1)
	}
	if n := play(&c, long, 2*measured, [2]int64{100, 60}); n != measured {
		t.Errorf("%d of %d messages were offered while measuring", n, 2*measured)
	}
	play(&c, short, 2*measured, [2]int64{50, 60})
	if n := play(&c, long, firstLasts-1, [2]int64{100, 60}); n != firstLasts-1 {
		t.Errorf("%d of %d went the better path", n, firstLasts-1)
	}
	if n := play(&c, short, firstLasts-1, [2]int64{50, 60}); n != 0 {
		t.Errorf("%d of %d went the worse path", n, firstLasts-1)
	}
	// In the long run little is measured.
	play(&c, long, 2*choiceLasts, [2]int64{100, 60})
	if n := play(&c, long, 4*choiceLasts, [2]int64{100, 60}); 4*choiceLasts-n > 5*measured {
		t.Errorf("%d of %d went the worse path", 4*choiceLasts-n, 4*choiceLasts)
	}
	// Things change: a little, and then much.
	play(&c, long, choiceLasts+2*measured, [2]int64{55, 60})
	if n := play(&c, long, firstLasts, [2]int64{55, 60}); n != firstLasts {
		t.Errorf("%d of %d go the path that was better once, and is hardly worse", n, firstLasts)
	}
	play(&c, long, choiceLasts+measured, [2]int64{40, 60})
	if n := play(&c, long, firstLasts-1, [2]int64{40, 60}); n != 0 {
		t.Errorf("%d of %d still go the path that was better once", n, firstLasts-1)
	}
	if c.offerUseless(short); c.offers>>classOf(short)&1 != 0 {
		t.Error("what is hopeless goes on")
	}
	if offers := c.setCanRead(false); offers != 0 || c.canRead {
		t.Errorf("%#x though the peer cannot be read", offers)
	}
}

// TestChooserCorrects: a choice upon messages that were disturbed does not last.
func TestChooserCorrects(t *testing.T) {
	var c chooser
	c.setCanRead(true)
	const n = 64 << 10
	play(&c, n, 2*measured, [2]int64{500, 60})
	if c.offers == 0 {
		t.Fatal("it does not go by what it measures")
	}
	if offers := play(&c, n, firstLasts+2*measured+500, [2]int64{30, 60}); offers > 2*firstLasts+2*measured {
		t.Errorf("%d of %d went the worse path", offers, firstLasts+2*measured+500)
	}
}

// TestChooserTimes: a message is timed as a whole, and not at all if it came both offers.
func TestChooserTimes(t *testing.T) {
	c := chooser{slotsWarm: true}
	c.setCanRead(true)
	seen := func(n int) [2]uint8 { return c.classes[classOf(n)].counted }
	c.startMessage(1000)
	c.via[bySlots] = true
	c.arrived(600)
	c.startMessage(400)
	if c.arrived(0); seen(1000) != [2]uint8{} {
		t.Error("timed before it was there")
	}
	if c.arrived(400); seen(1000) != [2]uint8{bySlots: 1} {
		t.Error(seen(1000))
	}
	c.slotsWarm = false
	c.startMessage(1000)
	c.via[bySlots] = true
	if c.arrived(1000); seen(1000) != [2]uint8{bySlots: 1} {
		t.Error("timed while memory was being provided")
	}
	c.startMessage(3000)
	c.via[byOffer] = true
	if c.arrived(3000); seen(3000) != [2]uint8{byOffer: 1} {
		t.Error(seen(3000))
	}
	c.startMessage(9000)
	c.via[byOffer] = true
	c.arrived(1000)
	c.startMessage(8000)
	c.via[bySlots] = true
	if c.arrived(8000); seen(9000) != [2]uint8{} {
		t.Error("timed though it came both offers")
	}
}

func TestPolicy(t *testing.T) {
	for text, want := range map[string]copyPolicy{"": copyAuto, "auto": copyAuto, "two": copyTwo, "single": copySingle} {
		if got, err := parsePolicy(text); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := (Driver{}).longPaths("three"); !errors.Is(err, driver.ErrConfig) {
		t.Error(err)
	}
	if _, err := (Driver{Copy: "twice"}).longPaths("single"); !errors.Is(err, driver.ErrConfig) {
		t.Error(err)
	}
	if w, err := (Driver{Copy: "two", minOffer: 5}).longPaths("single"); err != nil || w != (longPaths{policy: copyTwo, minOffer: 5}) {
		t.Error(w, err)
	}
}
