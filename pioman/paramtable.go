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

// Param is one row of the table of parameters, from which the environment, the flags of
// the laboratory, and the documentation are made.
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

// param is a row together with the field that it is about. get gives what set takes, but of a value that is not allowed.
type param struct {
	Param
	set func(*Params, string) error
	get func(*Params) string
}

// row makes a row for the field at, which text writes and parse reads.
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

// timeRow is the row of a time.
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
	row("idle-distribution", "socket, all", func(p *Params) *bool { return &p.AllIdle }, parseIdlers, idlers,
		"which VPs poll when they are idle: one per socket, or all"),
	timeRow("timer-period", func(p *Params) *time.Duration { return &p.TimerPeriod },
		"a VP that computes is polled for if it has not polled for so long; counted in periods of the scheduler's timer"),
	row("spare-lwps", "0, 1", func(p *Params) *int { return &p.SpareLWPs }, parseSpare, strconv.Itoa,
		"OS threads that block in the kernel for pending requests while every VP computes; 0: also no idle VP blocks, it looks again and again"),
	timeRow("blocking-delay", func(p *Params) *time.Duration { return &p.BlockingDelay },
		"how long requests are polled for in vain before a thread blocks in the kernel for them"),
	row("dedicated", "off, or the number of a VP", func(p *Params) *int { return &p.Dedicated }, parseVP, vpText,
		"the VP that does nothing but poll; then no other one polls at its hooks"),
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

// origin is what decided parameter i: a value that was changed in the struct, not by Set, is
// the program's.
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

// CheckEnvironment reports variables PIOM_... of the environment that belong to no parameter and have
// no effect. It returns nil, or an ErrParameter in one line that names them, and for each the variable
// that may have been meant. An engine ignores such variables: they may be for another version, or
// another program. A program that talks to its user may call CheckEnvironment.
func CheckEnvironment() error { return checkEnvironment(os.Environ()) }

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
		if meant := spelling.Nearest(strings.ToUpper(name), envs, len(name)/5); meant != "" { // more wrong letters than that are another word
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
