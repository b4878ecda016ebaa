package pioman

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pm2-go/pm2/internal/setting"
	"github.com/pm2-go/pm2/internal/spelling"
)

// Param is one row of the table of parameters. The names of variables of the environment, the flags of cmd/demo, and
// docs/parameters.md are made from it.
type Param struct {
	Name    string `json:"name"`    // of the flag, without dashes
	Env     string `json:"env"`     // of the environment variable
	Values  string `json:"values"`  // what is allowed
	Default string `json:"default"` // as Set takes it
	Meaning string `json:"meaning"`
}

// ParamTable returns the table, one row for each parameter.
func ParamTable() []Param {
	d := DefaultParams()
	rows := make([]Param, len(table))
	for i, x := range table {
		rows[i] = x.Param
		rows[i].Default = x.get(&d)
	}
	return rows
}

// param is a row with the access to its field: set parses a text, and get is the inverse, which also formats values
// that set does not allow.
type param struct {
	Param
	set func(*Params, string) error
	get func(*Params) string
}

// row makes a row for the field to which at points; parse and text convert its values.
func row[T any](name, values string, at func(*Params) *T, parse func(string) (T, error), text func(T) string, meaning string) param {
	return param{
		Param: Param{Name: name, Env: envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_")), Values: values, Meaning: meaning},
		set: func(p *Params, text string) error {
			v, err := parse(text)
			if err == nil {
				*at(p) = v
			}
			return err
		},
		get: func(p *Params) string { return text(*at(p)) },
	}
}

// timeRow is row for a duration.
func timeRow(name string, at func(*Params) *time.Duration, meaning string) param {
	return row(name, timeValues, at, parseTime, time.Duration.String, meaning)
}

// wrong is the error about a value that the row does not allow.
func (row *param) wrong(by Origin, text string) error {
	what := row.Env
	switch by {
	case FromFlag:
		what = "--" + row.Name
	case FromProgram, FromDefault:
		what = "parameter " + row.Name
	}
	return fmt.Errorf("%w: %s=%q: allowed are %s", ErrParameter, what, text, row.Values)
}

var table = []param{
	row("progress", "on, off", func(p *Params) *bool { return &p.Progress }, setting.Bool, onOff,
		"whether hooks make requests progress; off: only Wait and Poll do"),
	row("points", "idle, switch, timer, library, explicit, joined by commas; or all, or none", func(p *Params) *Points { return &p.Points }, parsePoints, Points.String,
		"the points at which the engine polls"),
	timeRow("busy-wait", func(p *Params) *time.Duration { return &p.BusyWait },
		"how long a Completion.Wait polls before it sleeps and leaves the polling to others; waits for messages: nmad.Config.Spin"),
	timeRow("granularity", func(p *Params) *time.Duration { return &p.Granularity },
		"least time between two polls of a VP at context switches and library entries; 0: at each"),
	timeRow("idle-granularity", func(p *Params) *time.Duration { return &p.IdleGap },
		"least time between two polls of an idle VP while no waiter sleeps; while one does, or 0, there is no pause"),
	row("idle-distribution", "package, all", func(p *Params) *bool { return &p.AllIdle }, parseIdlers, idlers,
		"which VPs poll when they are idle: one per package, or all"),
	timeRow("timer-period", func(p *Params) *time.Duration { return &p.TimerPeriod },
		"a VP that computes is polled for if it has not polled for so long; counted in periods of the scheduler's timer"),
	row("spare-lwps", "0, 1", func(p *Params) *int { return &p.SpareLWPs }, parseSpare, strconv.Itoa,
		"1: the progressor blocks in the kernel for pending requests while every VP computes, as a spare LWP does in PIOMan; 0: neither it nor an idle VP blocks, an idle VP looks again and again"),
	timeRow("blocking-delay", func(p *Params) *time.Duration { return &p.BlockingDelay },
		"how long requests are polled for in vain before a thread blocks in the kernel for them"),
	row("dedicated", "off, or the number of a VP", func(p *Params) *int { return &p.Dedicated }, parseVP, vpText,
		"the VP that does nothing but poll; then no other one polls at its hooks"),
}

// rowOf returns the place in the table of the parameter called name; -1: there is none.
func rowOf(name string) int {
	return slices.IndexFunc(table, func(x param) bool { return x.Name == name })
}

// ParamsFromEnvironment returns DefaultParams changed by the variables of the table, PIOM_... . The error, an
// ErrParameter, names the first variable whose value is not allowed, the value, and what is allowed; that parameter
// keeps its default, the others are as the environment says. CheckEnvironment finds variables that are not in the
// table.
func ParamsFromEnvironment() (Params, error) { return paramsFrom(os.Getenv) }

// paramsFrom is ParamsFromEnvironment for the variables that get returns.
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
// The error is ErrParameter and says which variable or flag, which value, and what is allowed; params
// is then unchanged.
func (params *Params) Set(name, text string, by Origin) error {
	i := rowOf(name)
	if i < 0 {
		return fmt.Errorf("%w: there is no parameter %q", ErrParameter, name)
	}
	if table[i].set(params, text) != nil {
		return table[i].wrong(by, text)
	}
	params.origins[i] = by
	return nil
}

// origin returns where the value of parameter i comes from. A value that the program has changed in the struct, without
// Set, is FromProgram.
func (params *Params) origin(i int) Origin {
	by := params.origins[i]
	if d := DefaultParams(); by == FromDefault && table[i].get(params) != table[i].get(&d) {
		return FromProgram
	}
	return by
}

// Check returns nil if all values are allowed, else the error of Set for the first value that is not.
func (params *Params) Check() error {
	for i := range table {
		if text := table[i].get(params); table[i].set(&Params{}, text) != nil {
			return table[i].wrong(params.origin(i), text)
		}
	}
	return nil
}

// CheckEnvironment reports variables PIOM_... of the environment that belong to no parameter. It returns nil, or an
// ErrParameter in one line that names them, and for each the variable that may have been meant. An engine ignores such
// variables, which may be for another version, or another program; a program that talks to its user may report them.
func CheckEnvironment() error { return checkEnvironment(os.Environ()) }

// checkEnvironment is CheckEnvironment for an environment in the form of os.Environ.
func checkEnvironment(environ []string) error {
	var unknown, envs []string
	for _, x := range table {
		envs = append(envs, x.Env)
	}
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(envs, name) {
			continue
		}
		if meant := spelling.Nearest(strings.ToUpper(name), envs, len(name)/5); meant != "" { // up to a fifth of the letters may be wrong
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
