package pollers

import "testing"

// TestPause: while the pollers that are awake get their turns the clock ticks less and less often; one that gets none
// is noted at the next tick, and the clock ticks as ever again.
func TestPause(t *testing.T) {
	p := &Pool{all: []*poller{{}, {}}}
	p.clock = clock{pool: p, seen: make([]uint64, len(p.all))}
	c := &p.clock
	c.tick()
	if pause(c.steady) != 1 {
		t.Errorf("no poller is awake: the next tick is %d periods away", pause(c.steady))
	}
	p.all[0].state.Store(awake)
	p.running.Store(1)
	last := int64(0)
	for range 10 {
		p.all[0].bursts.Add(1)
		c.tick()
		if pause(c.steady) < last {
			t.Errorf("a poller gets its turns: the next tick is %d periods away, after %d", pause(c.steady), last)
		}
		last = pause(c.steady)
	}
	if last != longestPause {
		t.Errorf("after ten ticks the next one is %d periods away, want %d", last, longestPause)
	}
	c.tick()
	if p.all[0].state.Load() != starved || pause(c.steady) != 1 {
		t.Errorf("a poller without turns: state %d, the next tick %d periods away", p.all[0].state.Load(), pause(c.steady))
	}
}
