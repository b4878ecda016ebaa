package driver

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver/names"
)

// Wrapper makes drivers around others: the name "fault:tcp" stands for what the wrapper
// "fault" makes of the driver "tcp". Safe for concurrent use.
type Wrapper interface {
	Name() string
	Wrap(inner Driver) (Driver, error)
}

var wrappers = names.Table[Wrapper]{What: "wrapper", Unknown: ErrUnknown}

// RegisterWrapper makes w known under its name; see Register.
func RegisterWrapper(w Wrapper) error { return wrappers.Register(w) }

// wrapped finds a driver whose name has a wrapper's before it.
func wrapped(outer, inner string) (Driver, error) {
	w, err := wrappers.Lookup(outer)
	if err != nil {
		return nil, err
	}
	d, err := Lookup(inner)
	if err != nil {
		return nil, err
	}
	if n := len(outer) + 1 + len(d.Name()); n > MaxName {
		return nil, fmt.Errorf("%w %q: a name of %d bytes; at most %d", ErrUnknown, outer+":"+inner, n, MaxName)
	}
	return w.Wrap(d)
}
