package driver

import (
	"fmt"
	"strings"
	"sync"

	"github.com/pm2-go/pm2/nmad/driver/names"
)

var registry = names.Table[Driver]{What: "driver", Unknown: ErrUnknown}

// MaxName is the longest name of a driver, in bytes: it travels in the first message of every link.
const MaxName = names.MaxName

// Register makes d known under its name. It fails, and changes nothing, if the name is empty, longer than MaxName or
// taken.
func Register(d Driver) error { return registry.Register(d) }

// MustRegister is Register for the init function of a driver's package. It panics if two packages of a program register
// the same name: the first start of that program shows it.
func MustRegister(d Driver) {
	if err := Register(d); err != nil {
		panic(err)
	}
}

var absent sync.Map // by name of a driver: why it is not in this program

// Absent tells Lookup why this program has no driver of that name, in one line. It is for drivers that a build can
// leave out. Safe for concurrent use.
func Absent(name, why string) { absent.Store(name, why) }

// Names lists the registered drivers in alphabetical order.
func Names() []string { return registry.Names() }

// Lookup returns the driver of that name. A name can have two parts: "fault:tcp" is what the wrapper "fault" makes of
// the driver "tcp", "ofi:verbs" what the driver "ofi" makes of the network "verbs" (Chooser). The error, an ErrUnknown,
// is one line with the names that there are, and the one that was probably meant. Safe for concurrent use.
func Lookup(name string) (Driver, error) {
	outer, inner, more := strings.Cut(name, ":")
	if why, ok := absent.Load(outer); ok {
		return nil, fmt.Errorf("%w %q: %s", ErrUnknown, name, why)
	}
	if !more {
		return registry.Lookup(name)
	}
	if len(name) > MaxName {
		return nil, fmt.Errorf("%w %q: a name of %d bytes; at most %d", ErrUnknown, name, len(name), MaxName)
	}
	if d, err := registry.Lookup(outer); err == nil {
		if d, ok := d.(Chooser); ok {
			return d.Choose(inner), nil
		}
	}
	return wrapped(outer, inner)
}

// Chooser is a driver over one of several networks that are not drivers themselves.
type Chooser interface {
	Driver
	// Choose returns the driver over that network. Its Open fails if there is no such network.
	Choose(network string) Driver
}

// LookupAll returns the drivers of a list of names, separated by commas: see Lookup.
func LookupAll(list string) ([]Driver, error) {
	var all []Driver
	for name := range strings.SplitSeq(list, ",") {
		d, err := Lookup(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// Wrapper makes drivers around others: the name "fault:tcp" stands for what the wrapper "fault" makes of the driver
// "tcp". Safe for concurrent use.
type Wrapper interface {
	Name() string
	// Wrap returns a driver around inner.
	Wrap(inner Driver) (Driver, error)
}

var wrappers = names.Table[Wrapper]{What: "wrapper", Unknown: ErrUnknown}

// RegisterWrapper makes w known under its name; see Register.
func RegisterWrapper(w Wrapper) error { return wrappers.Register(w) }

// wrapped returns the driver inner in the wrapper outer.
func wrapped(outer, inner string) (Driver, error) {
	w, err := wrappers.Lookup(outer)
	if err != nil {
		return nil, err
	}
	d, err := Lookup(inner)
	if err != nil {
		return nil, err
	}
	return w.Wrap(d)
}
