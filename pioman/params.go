package pioman

import (
	"time"

	"github.com/pm2-go/pm2/asm"
)

// Params are the numbers and switches of an engine. Start from DefaultParams or ParamsFromEnvironment,
// change some, and pass them in Config. ParamTable tells for each what it means, which values it may
// have, and which variable and flag set it.
type Params struct {
	Progress      bool          // hooks make progress; false: only Wait and Poll do
	Points        Points        // the polling points in use
	BusyWait      time.Duration // Wait: how long it polls before the thread sleeps; 5 us by default, as Trahay, Brunet and Denis took (2009)
	Granularity   time.Duration // switch and library points: least time between two polls of one VP
	IdleGap       time.Duration // idle point: least time between two polls of one VP while no waiter sleeps
	AllIdle       bool          // idle point: all VPs poll; else one of each package, so that lines of the queues move less (Denis, 2015)
	TimerPeriod   time.Duration // timer point: a VP that polled within this is not polled for
	SpareLWPs     int           // 1: the progressor blocks in the kernel while every VP computes, as a spare LWP does in PIOMan, from which the name is; 0: neither it nor an idle VP blocks
	BlockingDelay time.Duration // a task, or an idle VP, that has waited so long without success blocks in the kernel
	Dedicated     int           // the VP that does nothing but poll; -1: none

	fixedParams
	origins [maxParams]Origin // by place in the table; Set writes
}

// DefaultParams returns the parameters that an engine uses if neither the environment nor the program
// sets them.
func DefaultParams() Params {
	return Params{
		Progress:      true,
		Points:        DefaultPoints,
		BusyWait:      5 * time.Microsecond,
		Granularity:   10 * time.Microsecond,
		IdleGap:       2 * time.Microsecond,
		TimerPeriod:   100 * time.Microsecond,
		SpareLWPs:     1,
		BlockingDelay: time.Millisecond,
		Dedicated:     -1,
		fixedParams:   defaultFixedParams,
	}
}

// fixedParams are the numbers of an engine that programs cannot change: docs/parameters.md lists them. Tests change
// them.
type fixedParams struct {
	hot           time.Duration // idle point: a VP polls on for at least this long after something happened
	explicitSpin  time.Duration // explicit Wait: polling before it sleeps in the kernel
	explicitSleep time.Duration // explicit Wait: longest sleep between two looks
	politeAfter   time.Duration // explicit Wait, and an idle VP on the only CPU: yields to the kernel from then on
	blindPeriod   time.Duration // longest sleep while a task has nothing that announces it
	surveyPeriod  time.Duration // least time between two looks for queues whose VPs do not poll
	round         int           // most handlers in a round of one queue
}

var defaultFixedParams = fixedParams{
	hot:           20 * time.Microsecond,
	explicitSpin:  1500 * time.Microsecond,
	explicitSleep: time.Second,
	politeAfter:   20 * time.Microsecond,
	blindPeriod:   time.Millisecond,
	surveyPeriod:  100 * time.Microsecond,
	round:         64,
}

// Origin says where the value of a parameter comes from.
type Origin uint8

// The origins, the weakest first.
const (
	FromDefault     Origin = iota
	FromEnvironment        // a variable PIOM_...
	FromFlag               // a flag of a command
	FromProgram            // the program's own Config
)

var originNames = [...]string{"default", "environment", "flag", "program"}

// String returns the origin's name in lower case.
func (o Origin) String() string {
	if int(o) < len(originNames) {
		return originNames[o]
	}
	return "unknown"
}

// ticks are the parameters that hot paths compare with asm.Cycles, in cycles.
type ticks struct {
	switchPeriod, timerPeriod, hot, politeAfter, explicitSpin, idleGap, delay, survey int64
}

// ticks converts the parameters, once for an engine.
func (params *Params) ticks() ticks {
	c := func(d time.Duration) int64 { return asm.ToCycles(int64(d)) }
	return ticks{
		switchPeriod: c(params.Granularity),
		timerPeriod:  c(params.TimerPeriod),
		hot:          c(params.hot),
		politeAfter:  c(params.politeAfter),
		explicitSpin: c(params.explicitSpin),
		idleGap:      c(params.IdleGap),
		delay:        c(params.BlockingDelay),
		survey:       c(params.surveyPeriod),
	}
}
