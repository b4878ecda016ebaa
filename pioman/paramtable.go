package pioman

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/topo"
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
	who := x.Env
	switch by {
	case FromFlag:
		who = "--" + x.Name
	case FromProgram, FromDefault:
		who = "parameter " + x.Name
	}
	return fmt.Errorf("%w: %s=%q: allowed are %s", ErrParameter, who, text, x.Values)
}

// maxParams bounds the table; a test compares.
const maxParams = 12

var table = []param{
	{Param{Name: "flavour", Env: "PIOM_FLAVOUR", Values: strings.Join(flavourNames[:], ", "),
		Meaning: "who polls in the background: marcel's hooks, threads under SCHED_IDLE, or nobody"},
		func(p *Params) value { return &p.Flavour }},
	{Param{Name: "progress", Env: "PIOM_PROGRESS", Values: boolValues,
		Meaning: "whether hooks make requests progress; off: only who waits or calls Poll does"},
		func(p *Params) value { return (*boolean)(&p.Progress) }},
	{Param{Name: "points", Env: "PIOM_POINTS", Values: "idle, switch, timer, library, explicit, joined by commas; or all, or none",
		Meaning: "the points at which is polled"},
		func(p *Params) value { return &p.Points }},
	{Param{Name: "busy-wait", Env: "PIOM_BUSY_WAIT", Values: timeValues(0, maxTime),
		Meaning: "how long a wait polls before it sleeps and leaves the polling to others"},
		func(p *Params) value { return span{&p.BusyWait, 0, maxTime} }},
	{Param{Name: "granularity", Env: "PIOM_GRANULARITY", Values: timeValues(0, maxTime),
		Meaning: "least time between two polls of a VP at context switches and library entries; 0: at each"},
		func(p *Params) value { return span{&p.Granularity, 0, maxTime} }},
	{Param{Name: "idle-granularity", Env: "PIOM_IDLE_GRANULARITY", Values: timeValues(0, maxTime),
		Meaning: "least time between two polls of an idle VP; 0: no pause, other processes get the CPU between two polls"},
		func(p *Params) value { return span{&p.IdleGap, 0, maxTime} }},
	{Param{Name: "idle-distribution", Env: "PIOM_IDLE_DISTRIBUTION", Values: strings.Join(distributionNames[:], ", "),
		Meaning: "which VPs poll when they are idle"},
		func(p *Params) value { return &p.IdleVPs }},
	{Param{Name: "timer-period", Env: "PIOM_TIMER_PERIOD", Values: timeValues(0, maxTime),
		Meaning: "a VP that computes is polled for if it has not polled for so long; counted in periods of the scheduler's timer"},
		func(p *Params) value { return span{&p.TimerPeriod, 0, maxTime} }},
	{Param{Name: "binding-level", Env: "PIOM_BINDING_LEVEL", Values: levelValues(),
		Meaning: "the finest level of the machine that has queues of its own; all: each level with siblings"},
		func(p *Params) value { return &p.BindingLevel }},
	{Param{Name: "spare-lwps", Env: "PIOM_SPARE_LWPS", Values: "0, 1",
		Meaning: "OS threads that block in the kernel for pending requests while every VP computes; 0: also no idle VP blocks, it looks again and again"},
		func(p *Params) value { return number{&p.SpareLWPs, 0, 1} }},
	{Param{Name: "blocking-delay", Env: "PIOM_BLOCKING_DELAY", Values: timeValues(0, maxTime),
		Meaning: "how long requests are polled for in vain before somebody blocks in the kernel for them"},
		func(p *Params) value { return span{&p.BlockingDelay, 0, maxTime} }},
	{Param{Name: "dedicated", Env: "PIOM_DEDICATED", Values: "off, or the number of a VP",
		Meaning: "the VP that does nothing but poll; then no other one polls at its hooks"},
		func(p *Params) value { return (*processor)(&p.Dedicated) }},
}

// rowOf is the place in the table of the parameter called name, -1: nowhere.
func rowOf(name string) int {
	return slices.IndexFunc(table, func(x param) bool { return x.Name == name })
}

// value is a parameter's field seen as text. check is about what is there.
type value interface {
	parse(text string) error
	text() string
	check() error
}

var errValue = errors.New("value not allowed")

func allowed(ok bool) error {
	if ok {
		return nil
	}
	return errValue
}

const boolValues = "on, off"

type boolean bool

func (b *boolean) parse(text string) error {
	switch strings.ToLower(text) {
	case "on", "1", "true", "yes":
		*b = true
	case "off", "0", "false", "no":
		*b = false
	default:
		return errValue
	}
	return nil
}

func (b *boolean) text() string {
	if *b {
		return "on"
	}
	return "off"
}

func (b *boolean) check() error { return nil }

// maxTime is the longest time that a parameter may say: it fits in cycles.
const maxTime = time.Hour

func timeValues(low, high time.Duration) string {
	return fmt.Sprintf("microseconds, or a time with its unit such as 10us or 2ms, %v to %v", low, high)
}

// span is a time; a number alone is microseconds.
type span struct {
	d         *time.Duration
	low, high time.Duration
}

func (s span) parse(text string) error {
	if us, err := strconv.ParseFloat(text, 64); err == nil {
		if !(us >= 0 && us <= maxTime.Seconds()*1e6) {
			return errValue
		}
		*s.d = time.Duration(us * 1e3)
		return nil
	}
	d, err := time.ParseDuration(text)
	*s.d = d
	return err
}

func (s span) text() string { return s.d.String() }
func (s span) check() error { return allowed(*s.d >= s.low && *s.d <= s.high) }

// number is a whole number.
type number struct {
	n         *int
	low, high int
}

func (n number) parse(text string) (err error) { *n.n, err = strconv.Atoi(text); return err }
func (n number) text() string                  { return strconv.Itoa(*n.n) }
func (n number) check() error                  { return allowed(*n.n >= n.low && *n.n <= n.high) }

// processor is the number of a VP, or none.
type processor int

func (p *processor) parse(text string) error {
	if strings.EqualFold(text, "off") || strings.EqualFold(text, "none") {
		*p = -1
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	*p = processor(n)
	return err
}

func (p *processor) text() string {
	if *p < 0 {
		return "off"
	}
	return strconv.Itoa(int(*p))
}

func (p *processor) check() error { return allowed(*p >= -1 && *p < 1<<16) }

// Points is a set of polling points.
type Points uint8

// The polling points.
const (
	AtIdle     Points = 1 << iota // a VP has no thread to run
	AtSwitch                      // a VP changed threads
	AtTimer                       // a VP computes and never comes by
	AtLibrary                     // a thread enters a call that may block
	AtExplicit                    // somebody calls Engine.Poll

	NoPoints      Points = 0
	DefaultPoints        = AtIdle | AtSwitch | AtTimer | AtExplicit
	AllPoints            = DefaultPoints | AtLibrary
)

var pointNames = [...]string{"idle", "switch", "timer", "library", "explicit"}

// hookPoints are where the points are hooked, in the order of pointNames; the
// explicit one is nowhere.
var hookPoints = [...]hooks.Point{hooks.Idle, hooks.Switch, hooks.Timer, hooks.Library}

// String lists the points, joined by commas.
func (p Points) String() string {
	var names []string
	for i, name := range pointNames {
		if p&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ",")
}

func (p *Points) parse(text string) error {
	set := NoPoints
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "all":
		set = AllPoints
	case "none":
	default:
	names:
		for part := range strings.SplitSeq(text, ",") {
			for i, name := range pointNames {
				if strings.EqualFold(strings.TrimSpace(part), name) {
					set |= 1 << i
					continue names
				}
			}
			return errValue
		}
	}
	*p = set
	return nil
}

func (p *Points) text() string { return p.String() }
func (p *Points) check() error { return allowed(*p&^AllPoints == 0) }

// Distribution says which VPs poll when they are idle. Fewer pollers than VPs keep
// the lines of the queues from travelling and leave the memory to those who
// compute (Denis, 2015).
type Distribution uint8

// The distributions.
const (
	OnePerSocket Distribution = iota // the first VP of each package
	AllVPs
	OddVPs
	EvenVPs
	FirstVP
)

var distributionNames = [...]string{"socket", "all", "odd", "even", "first"}

// String returns the name by which the environment calls it.
func (d Distribution) String() string {
	if int(d) < len(distributionNames) {
		return distributionNames[d]
	}
	return "unknown"
}

func (d *Distribution) parse(text string) error {
	for i, name := range distributionNames {
		if strings.EqualFold(text, name) {
			*d = Distribution(i)
			return nil
		}
	}
	return errValue
}

func (d *Distribution) text() string { return d.String() }
func (d *Distribution) check() error { return allowed(int(*d) < len(distributionNames)) }

// Level is a kind of item of the machine, or AnyLevel.
type Level int

// AnyLevel stands for every level.
const AnyLevel Level = -1

// AtLevel is the level of the items of one kind.
func AtLevel(k topo.Kind) Level { return Level(k) }

// String returns the name of the kind, or "all".
func (l Level) String() string {
	if l == AnyLevel {
		return "all"
	}
	return strings.ToLower(topo.Kind(l).String())
}

func levelValues() string {
	names := []string{"all"}
	for _, k := range topo.Kinds() {
		names = append(names, strings.ToLower(k.String()))
	}
	return strings.Join(names, ", ")
}

func (l *Level) parse(text string) error {
	if strings.EqualFold(text, "all") {
		*l = AnyLevel
		return nil
	}
	k, err := topo.ParseKind(text)
	*l = Level(k)
	return err
}

func (l *Level) text() string { return l.String() }
func (l *Level) check() error { return allowed(*l >= AnyLevel && int(*l) < len(topo.Kinds())) }
