package pioman

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pm2-go/pm2/internal/spelling"
)

// Param is one row of the table of parameters, from which the environment, the flags of
// the laboratory, and the documentation are made.
type Param struct {
	Name    string // of the flag, without dashes
	Env     string // of the environment variable
	Values  string // what is allowed
	Default string
	Meaning string
}

// ParamTable returns the table, one row for each parameter.
func ParamTable() []Param {
	d := DefaultParams()
	rows := make([]Param, len(table))
	for i, x := range table {
		rows[i] = x.Param
		rows[i].Default = x.at(&d).text()
	}
	return rows
}

// param is a row together with the field that it is about.
type param struct {
	Param
	at func(*Params) value
}

// wrong is the error about a value that the row does not allow.
func (x *param) wrong(by Origin, text string) error {
	what := x.Env
	switch by {
	case FromFlag:
		what = "--" + x.Name
	case FromProgram, FromDefault:
		what = "parameter " + x.Name
	}
	return fmt.Errorf("%w: %s=%q: allowed are %s", ErrParameter, what, text, x.Values)
}

var table = []param{
	{Param{Name: "progress", Env: "PIOM_PROGRESS", Values: boolValues,
		Meaning: "whether hooks make requests progress; off: only Wait and Poll do"},
		func(p *Params) value { return (*boolean)(&p.Progress) }},
	{Param{Name: "points", Env: "PIOM_POINTS", Values: "idle, switch, timer, library, explicit, joined by commas; or all, or none",
		Meaning: "the points at which the engine polls"},
		func(p *Params) value { return &p.Points }},
	{Param{Name: "busy-wait", Env: "PIOM_BUSY_WAIT", Values: timeValues,
		Meaning: "how long a Completion.Wait polls before it sleeps and leaves the polling to others; waits for messages: nmad.Config.Spin"},
		func(p *Params) value { return (*span)(&p.BusyWait) }},
	{Param{Name: "granularity", Env: "PIOM_GRANULARITY", Values: timeValues,
		Meaning: "least time between two polls of a VP at context switches and library entries; 0: at each"},
		func(p *Params) value { return (*span)(&p.Granularity) }},
	{Param{Name: "idle-granularity", Env: "PIOM_IDLE_GRANULARITY", Values: timeValues,
		Meaning: "least time between two polls of an idle VP; 0: no pause, other processes get the CPU between two polls"},
		func(p *Params) value { return (*span)(&p.IdleGap) }},
	{Param{Name: "idle-distribution", Env: "PIOM_IDLE_DISTRIBUTION", Values: strings.Join(distributionNames[:], ", "),
		Meaning: "which VPs poll when they are idle"},
		func(p *Params) value { return &p.IdleVPs }},
	{Param{Name: "timer-period", Env: "PIOM_TIMER_PERIOD", Values: timeValues,
		Meaning: "a VP that computes is polled for if it has not polled for so long; counted in periods of the scheduler's timer"},
		func(p *Params) value { return (*span)(&p.TimerPeriod) }},
	{Param{Name: "binding-level", Env: "PIOM_BINDING_LEVEL", Values: levelValues(),
		Meaning: "the finest level of the machine that has queues of its own; all: each level with siblings"},
		func(p *Params) value { return &p.BindingLevel }},
	{Param{Name: "spare-lwps", Env: "PIOM_SPARE_LWPS", Values: "0, 1",
		Meaning: "OS threads that block in the kernel for pending requests while every VP computes; 0: also no idle VP blocks, it looks again and again"},
		func(p *Params) value { return (*oneOrNone)(&p.SpareLWPs) }},
	{Param{Name: "blocking-delay", Env: "PIOM_BLOCKING_DELAY", Values: timeValues,
		Meaning: "how long requests are polled for in vain before a thread blocks in the kernel for them"},
		func(p *Params) value { return (*span)(&p.BlockingDelay) }},
	{Param{Name: "dedicated", Env: "PIOM_DEDICATED", Values: "off, or the number of a VP",
		Meaning: "the VP that does nothing but poll; then no other one polls at its hooks"},
		func(p *Params) value { return (*processor)(&p.Dedicated) }},
}

// rowOf is the place in the table of the parameter called name, -1: nowhere.
func rowOf(name string) int {
	return slices.IndexFunc(table, func(x param) bool { return x.Name == name })
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

// Set sets the parameter called name (see ParamTable) to the value in text, and remembers its origin.
// The error is ErrParameter and says which variable or flag, which value, and what is allowed; p is
// then unchanged.
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

// Get returns the value of the parameter called name in the form that Set takes, and its origin; "" if
// there is no such parameter.
func (p *Params) Get(name string) (text string, by Origin) {
	i := rowOf(name)
	if i < 0 {
		return "", FromDefault
	}
	return table[i].at(p).text(), p.origin(i)
}

// origin is what decided parameter i: a value that was changed in the struct, not by Set, is
// the program's.
func (p *Params) origin(i int) Origin {
	by := p.origins[i]
	if d := DefaultParams(); by == FromDefault && table[i].at(p).text() != table[i].at(&d).text() {
		return FromProgram
	}
	return by
}

// Check returns nil if all values are allowed, else the error of Set for the first value that is not.
func (p *Params) Check() error {
	for i := range table {
		if v := table[i].at(p); v.check() != nil {
			return table[i].wrong(p.origin(i), v.text())
		}
	}
	return nil
}

// CheckEnvironment reports variables PIOM_... of the environment that belong to no parameter and have
// no effect. It returns nil, or an ErrParameter in one line that names them, and for each the variable
// that may have been meant. An engine ignores such variables: they may be for another version, or
// another program. A program that talks to its user may call CheckEnvironment.
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
		if d := spelling.Edits(strings.ToUpper(name), x.Env); d < least {
			meant, least = x.Env, d
		}
	}
	return meant
}
