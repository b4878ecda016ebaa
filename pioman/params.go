package pioman

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pm2-go/pm2/asm"
)

// Params are the numbers and switches of an engine. Start from DefaultParams or
// ParamsFromEnvironment, change what is to be changed, and hand it over in
// Config. The table in paramtable.go says what each means, what it may be, and by
// which variable and flag it is set.
type Params struct {
	Flavour       Flavour       // what Start starts
	Progress      bool          // hooks make progress; false: only who waits or calls Poll
	Points        Points        // the polling points in use
	BusyWait      time.Duration // Wait: polling before the passive wait (TBD09: 5 us)
	Granularity   time.Duration // switch and library points: least time between two polls of one VP
	IdleGap       time.Duration // idle point: least time between two polls of one VP; 0: at every look, yielding between
	IdleVPs       Distribution  // which VPs poll when they are idle
	TimerPeriod   time.Duration // timer point: a VP that polled within this is not polled for
	BindingLevel  Level         // the finest level of the machine that has queues
	SpareLWPs     int           // OS threads that block in the kernel while every VP computes: 0 or 1
	BlockingDelay time.Duration // a task, or an idle VP, that has waited so long without success blocks in the kernel
	Dedicated     int           // the VP that does nothing but poll; -1: none

	fixed                     // what is decided
	origins [maxParams]Origin // by place in the table; Set writes
}

// DefaultParams are what an engine uses if nobody says otherwise.
func DefaultParams() Params {
	return Params{
		Progress:      true,
		Points:        DefaultPoints,
		BusyWait:      5 * time.Microsecond,
		Granularity:   10 * time.Microsecond,
		IdleVPs:       OnePerSocket,
		TimerPeriod:   100 * time.Microsecond,
		BindingLevel:  AnyLevel,
		SpareLWPs:     1,
		BlockingDelay: time.Millisecond,
		Dedicated:     -1,
		fixed:         theFixed,
	}
}

// fixed are numbers and switches of an engine that are decided: docs/parameters.md lists them. Tests change them.
type fixed struct {
	hot           time.Duration // idle point: a VP polls on for at least so long after something happened
	explicitSpin  time.Duration // explicit Wait: polling before it sleeps in the kernel
	explicitSleep time.Duration // explicit Wait: longest sleep between two looks
	politeAfter   time.Duration // explicit Wait, and an idle VP on the only CPU: yields to the kernel from then on
	blindPeriod   time.Duration // longest sleep while a task has nothing that announces it
	surveyPeriod  time.Duration // least time between two looks for queues whose VPs do not poll
	adaptive      bool          // idle VPs choose how long to poll, up to BlockingDelay, from what arrived when
	round         int           // most handlers in a round of one queue
	inlineDepth   int           // most continuations inside each other on one stack
	inlineTime    time.Duration // a continuation is begun inline only within so long after the outermost one
}

var theFixed = fixed{
	hot:           20 * time.Microsecond,
	explicitSpin:  1500 * time.Microsecond,
	explicitSleep: time.Second,
	politeAfter:   20 * time.Microsecond,
	blindPeriod:   time.Millisecond,
	surveyPeriod:  100 * time.Microsecond,
	adaptive:      true,
	round:         64,
	inlineDepth:   4,
	inlineTime:    20 * time.Microsecond,
}

// ParamsFromEnvironment is DefaultParams changed by the variables of the table,
// PIOM_... . An error names the variable, what it says, and what is allowed, and
// is ErrParameter; parameters beside the wrong one are as the environment says. Variables that are not
// in the table it does not see: CheckEnvironment does.
func ParamsFromEnvironment() (Params, error) { return paramsFrom(os.Getenv) }

func paramsFrom(get func(string) string) (Params, error) {
	p := DefaultParams()
	var first error
	for i := range table {
		if text := get(table[i].Env); text != "" {
			if err := p.Set(table[i].Name, text, FromEnvironment); err != nil && first == nil {
				first = err
			}
		}
	}
	return p, first
}

// Origin says who decided the value of a parameter.
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

// Set gives the parameter called name (see ParamTable) the value that text says,
// and remembers who said it. The error is ErrParameter and says which variable or
// flag, what it was given, and what is allowed; p is then as before.
func (p *Params) Set(name, text string, by Origin) error {
	i := rowOf(name)
	if i < 0 {
		return fmt.Errorf("%w: there is no parameter %q", ErrParameter, name)
	}
	x := &table[i]
	before := *p
	err := x.at(p).parse(text)
	if err == nil {
		err = x.at(p).check()
	}
	if err != nil {
		*p = before
		return x.wrong(by, text)
	}
	p.origins[i] = by
	return nil
}

// Get returns the value of the parameter called name as Set would take it, and who
// decided it; "" for a name that does not exist.
func (p *Params) Get(name string) (text string, by Origin) {
	i := rowOf(name)
	if i < 0 {
		return "", FromDefault
	}
	return table[i].at(p).text(), p.origin(i)
}

// origin is who decided parameter i: what was changed in the struct, not by Set, the
// program has.
func (p *Params) origin(i int) Origin {
	by := p.origins[i]
	if d := DefaultParams(); by == FromDefault && table[i].at(p).text() != table[i].at(&d).text() {
		return FromProgram
	}
	return by
}

// Check says whether all values are allowed: nil, or the first one that is not, as
// Set would.
func (p *Params) Check() error {
	for i := range table {
		if v := table[i].at(p); v.check() != nil {
			return table[i].wrong(p.origin(i), v.text())
		}
	}
	return nil
}

// params is what the engine is to use, and what is wrong with what was asked for.
func (c *Config) params() (Params, error) {
	if c.Params == nil {
		return ParamsFromEnvironment()
	}
	if err := c.Params.Check(); err != nil {
		return DefaultParams(), err
	}
	p := *c.Params
	if p.fixed == (fixed{}) { // made by hand, not from DefaultParams
		p.fixed = theFixed
	}
	return p, nil
}

// Params returns what the engine uses, with the origin of each value.
func (e *Engine) Params() Params { return e.params }

// ticks are the params that hot paths compare with asm.Cycles, converted once.
type ticks struct {
	switchPeriod, timerPeriod, hot, politeAfter, explicitSpin, idleGap, delay, survey, inline int64
}

func (p *Params) ticks() ticks {
	c := func(d time.Duration) int64 { return asm.ToCycles(int64(d)) }
	return ticks{
		switchPeriod: c(p.Granularity),
		timerPeriod:  c(p.TimerPeriod),
		hot:          c(p.hot),
		politeAfter:  c(p.politeAfter),
		explicitSpin: c(p.explicitSpin),
		idleGap:      c(p.IdleGap),
		delay:        c(p.BlockingDelay),
		survey:       c(p.surveyPeriod),
		inline:       c(p.inlineTime),
	}
}

// CheckEnvironment says which variables PIOM_... of the environment no parameter has, so that they are
// without effect: nil, or an ErrParameter in one line that names them, and for each the one that may have been meant. An
// engine ignores them, since a program need not know what another version of it, or another program, is told; one that talks to
// its user may ask.
func CheckEnvironment() error { return checkEnvironment(os.Environ()) }

func checkEnvironment(environ []string) error {
	var unknown []string
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.ContainsFunc(table, func(x param) bool { return x.Env == name }) {
			continue
		}
		if meant := resembling(name); meant != "" {
			name += " (" + meant + "?)"
		}
		unknown = append(unknown, name)
	}
	if unknown == nil {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("%w: %s: not in the table, hence without effect", ErrParameter, strings.Join(unknown, ", "))
}

// envPrefix is how the variables of the table begin.
const envPrefix = "PIOM_"

// resembling is the variable of the table that is most like name; "": none is.
func resembling(name string) (meant string) {
	least := 1 + len(name)/5 // more wrong letters than that are another word
	for _, x := range table {
		if d := edits(name[len(envPrefix):], x.Env[len(envPrefix):]); d < least {
			meant, least = x.Env, d
		}
	}
	return meant
}

// edits counts the letters to be inserted, removed or changed in one word to make another of it
// (Levenshtein, 1966); small and capital ones are the same.
func edits(from, to string) int {
	from, to = strings.ToUpper(from), strings.ToUpper(to)
	row := make([]int, len(to)+1) // for what has been read of from
	for j := range row {
		row[j] = j
	}
	for i := range len(from) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(to) {
			change := corner
			if from[i] != to[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
