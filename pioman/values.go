package pioman

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/setting"
	"github.com/pm2-go/pm2/sched/topo"
)

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
	on, err := setting.Bool(text)
	*b = boolean(on)
	return err
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

var timeValues = fmt.Sprintf("microseconds, or a time with its unit such as 10us or 2ms, 0s to %v", maxTime)

// span is a time; a number alone is microseconds.
type span time.Duration

func (s *span) parse(text string) error {
	if us, err := strconv.ParseFloat(text, 64); err == nil {
		if !(us >= 0 && us <= maxTime.Seconds()*1e6) {
			return errValue
		}
		*s = span(us * 1e3)
		return nil
	}
	d, err := time.ParseDuration(text)
	*s = span(d)
	return err
}

func (s *span) text() string { return time.Duration(*s).String() }
func (s *span) check() error { return allowed(*s >= 0 && *s <= span(maxTime)) }

// oneOrNone is 0 or 1.
type oneOrNone int

func (n *oneOrNone) parse(text string) error {
	i, err := strconv.Atoi(text)
	*n = oneOrNone(i)
	return err
}

func (n *oneOrNone) text() string { return strconv.Itoa(int(*n)) }
func (n *oneOrNone) check() error { return allowed(*n == 0 || *n == 1) }

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
	AtExplicit                    // a call of Engine.Poll

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

// Distribution says which VPs poll when they are idle. With fewer pollers than VPs the cache lines of
// the queues move less, and the processors that compute have the memory to themselves (Denis, 2015).
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

// String returns the name of the distribution as the environment has it.
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

// AtLevel returns the level of the items of one kind.
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

// maxParams bounds the table; a test compares.
const maxParams = 12
