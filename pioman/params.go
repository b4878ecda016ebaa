package pioman

import (
	"time"

	"github.com/pm2-go/pm2/asm"
)

// params are the numbers of an engine, in one place.
type params struct {
	spin          time.Duration // Wait: polling before the passive wait (TBD09: 5 us)
	switchPeriod  time.Duration // switch hook: least time between two polls of one VP
	timerPeriod   time.Duration // timer hook: a VP that polled within this is not polled for again
	hot           time.Duration // idle hook: Busy for so long after something happened
	politeAfter   time.Duration // explicit Wait: yields to the kernel from then on
	explicitSpin  time.Duration // explicit Wait: polling before it sleeps in the kernel
	explicitSleep time.Duration // explicit Wait: longest sleep between two looks
	blindPeriod   time.Duration // longest sleep while a task has nothing that announces it
	round         int           // most handlers in a round of one queue
}

func defaultParams() params {
	return params{
		spin:          5 * time.Microsecond,
		switchPeriod:  10 * time.Microsecond,
		timerPeriod:   100 * time.Microsecond,
		hot:           20 * time.Microsecond,
		politeAfter:   20 * time.Microsecond,
		explicitSpin:  1500 * time.Microsecond,
		explicitSleep: time.Second,
		blindPeriod:   time.Millisecond,
		round:         64,
	}
}

// ticks are the params that hot paths compare with asm.Cycles, converted once.
type ticks struct {
	spin, switchPeriod, timerPeriod, hot, politeAfter, explicitSpin int64
}

func (p params) ticks() ticks {
	c := func(d time.Duration) int64 { return asm.ToCycles(int64(d)) }
	return ticks{
		spin:         c(p.spin),
		switchPeriod: c(p.switchPeriod),
		timerPeriod:  c(p.timerPeriod),
		hot:          c(p.hot),
		politeAfter:  c(p.politeAfter),
		explicitSpin: c(p.explicitSpin),
	}
}
