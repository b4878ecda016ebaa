package pingpong

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
)

const (
	longest = 60_000_000_000 // ns; longer round trips count as this
	digits  = 3              // significant ones of the histogram
	batch   = 512            // samples that a pair keeps before it takes the lock
)

// tally collects the round trips of all pairs of one row.
type tally struct {
	mu      marcel.Mutex
	hist    *hdrhistogram.Histogram // in cycles; under mu
	expects int64                   // samples
	one     float64                 // messages, one after the other, that a sample is of
	shown   int64                   // steps passed on so far, of stepsPerRow; under mu
	step    func(int64)             // shows progress; must not block
}

// stepsPerRow is how finely a row shows its progress.
const stepsPerRow = 100

func newTally(expects int64, step func(int64)) *tally {
	return &tally{hist: hdrhistogram.New(1, asm.ToCycles(longest), digits), expects: expects, one: 2, step: step}
}

// samples is one pair's share of a tally. For one thread at a time.
type samples struct {
	to       *tally
	overhead int64 // cycles that the clock itself costs
	kept     []int64
}

func (t *tally) samples(overhead int64) *samples {
	return &samples{to: t, overhead: overhead, kept: make([]int64, 0, batch)}
}

// add records one round trip.
func (s *samples) add(cycles int64) {
	s.kept = append(s.kept, max(cycles-s.overhead, 1))
	if len(s.kept) == cap(s.kept) {
		s.flush()
	}
}

// flush hands over what is kept.
func (s *samples) flush() {
	s.to.mu.Lock()
	defer s.to.mu.Unlock()
	for _, c := range s.kept {
		// Fails for values above the histogram's range only.
		if s.to.hist.RecordValue(c) != nil {
			_ = s.to.hist.RecordValue(s.to.hist.HighestTrackableValue())
		}
	}
	s.kept = s.kept[:0]
	now := min(s.to.hist.TotalCount()*stepsPerRow/s.to.expects, stepsPerRow)
	s.to.step(now - s.to.shown)
	s.to.shown = now
}

// oneWay returns the quantile (0 to 100) of the time of one message in nanoseconds: one way, of a round trip; its
// share, of a window.
func (t *tally) oneWay(quantile float64) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.hist.Min()
	if quantile > 0 {
		c = t.hist.ValueAtPercentile(quantile)
	}
	return nanoseconds(c) / t.one
}

// nanoseconds converts without rounding to whole ones.
func nanoseconds(cycles int64) float64 {
	const many = 1 << 30
	return float64(cycles) * float64(asm.Nanos(many)) / many
}
