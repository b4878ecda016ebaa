package crossover

import (
	"testing"

	"github.com/pm2-go/pm2/nmad/strategy"
)

// The limit is that of the rails over which a message of that size would come.
func TestLimit(t *testing.T) {
	slow, fast := strategy.Cost{Latency: 20_000, Bandwidth: 1}, strategy.Cost{Latency: 1000, Bandwidth: 10}
	for _, c := range []struct {
		name     string
		strategy strategy.Strategy
		costs    []strategy.Cost
		limits   []int
		limit    int
		rail     int
	}{
		{"one rail", strategy.Default, []strategy.Cost{slow}, []int{4096}, 4096, 0},
		{"one rail, not measured", strategy.Default, []strategy.Cost{slow}, []int{0}, 0, 0},
		{"neither measured", strategy.SplitBalance, []strategy.Cost{slow, fast}, []int{0, 0}, 0, 0},
		{"the second one brings it sooner", strategy.SplitBalance, []strategy.Cost{slow, fast}, []int{65536, 4096}, 4096, 1},
		{"and under any strategy that chooses a rail", strategy.Default, []strategy.Cost{slow, fast}, []int{65536, 4096}, 4096, 1},
		{"the second one is slower, and brings nothing of it", strategy.SplitBalance, []strategy.Cost{fast, slow}, []int{32768, 4096}, 32768, 0},
		{"only the second one is measured", strategy.SplitBalance, []strategy.Cost{slow, fast}, []int{0, 2048}, 2048, 1},
		{"only the second one is measured, which brings nothing", strategy.SplitBalance, []strategy.Cost{fast, slow}, []int{0, 2048}, 2048, 1},
		{"either brings half of any size", strategy.SplitEqual, []strategy.Cost{fast, slow}, []int{1 << 20, 100_000}, 100_000, 1},
		{"three, of which the third one is the fastest", strategy.SplitBalance, []strategy.Cost{slow, slow, fast}, []int{65536, 8192, 512}, 512, 2},
		{"a limit that holds for no rail but is the least", strategy.Default, []strategy.Cost{slow, fast}, []int{512, 64}, 64, 1},
	} {
		if limit, rail := Limit(c.strategy, c.costs, c.limits); limit != c.limit || rail != c.rail {
			t.Errorf("%s: %d, of rail %d; want %d, of rail %d", c.name, limit, rail, c.limit, c.rail)
		}
	}
}
