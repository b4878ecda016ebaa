package names

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pm2-go/pm2/internal/spelling"
)

// MaxName is the longest name, in bytes: names of drivers travel in the first message of every link.
const MaxName = 32

// Table is a set of things that have names. It is written at start, by init functions, and read when a session opens:
// never on a hot path. Safe for concurrent use.
type Table[T interface{ Name() string }] struct {
	What    string // what the things are, for errors: "driver"
	Unknown error  // what a failed Lookup wraps

	mu     sync.RWMutex
	byName map[string]T
}

// Register adds x under its name. It fails, and changes nothing, if the name is empty, longer than MaxName or taken.
func (t *Table[T]) Register(x T) error {
	name := x.Name()
	if name == "" || len(name) > MaxName {
		return fmt.Errorf("%s: cannot register %q: a name has 1 to %d bytes", t.What, name, MaxName)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, taken := t.byName[name]; taken {
		return fmt.Errorf("%s: cannot register %q: the name is taken", t.What, name)
	}
	if t.byName == nil {
		t.byName = map[string]T{}
	}
	t.byName[name] = x
	return nil
}

// Names lists what is registered, in alphabetical order.
func (t *Table[T]) Names() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Sorted(maps.Keys(t.byName))
}

// Lookup finds what has that name. The error, which wraps Unknown, is one line that says which names there are and
// which one was probably meant.
func (t *Table[T]) Lookup(name string) (T, error) {
	t.mu.RLock()
	x, ok := t.byName[name]
	t.mu.RUnlock()
	if ok {
		return x, nil
	}
	names := t.Names()
	if len(names) == 0 {
		return x, fmt.Errorf("%w %q: this program was built without any", t.Unknown, name)
	}
	hint := ""
	if best := nearest(name, names); best != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", best)
	}
	return x, fmt.Errorf("%w %q; there are: %s%s", t.Unknown, name, strings.Join(names, ", "), hint)
}

// nearest gives the one of names that is at most two edits, and fewer than its own length, away from name; "" if none
// is.
func nearest(name string, names []string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if len(name) > 2*MaxName {
		return ""
	}
	return spelling.Nearest(name, names, 2)
}
