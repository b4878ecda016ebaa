package driver

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// registry is written at start, by the init functions of the drivers, and read
// when a session opens: never on a hot path.
var registry struct {
	sync.RWMutex
	byName map[string]Driver
}

// MaxName is the longest name of a driver, in bytes: it travels in the first
// message of every link.
const MaxName = 32

// Register makes d known under its name. It fails, and changes nothing, if the
// name is empty, longer than MaxName or taken.
func Register(d Driver) error {
	name := d.Name()
	if name == "" || len(name) > MaxName {
		return fmt.Errorf("driver: cannot register %q: a name has 1 to %d bytes", name, MaxName)
	}
	registry.Lock()
	defer registry.Unlock()
	if _, taken := registry.byName[name]; taken {
		return fmt.Errorf("driver: cannot register %q: the name is taken", name)
	}
	if registry.byName == nil {
		registry.byName = map[string]Driver{}
	}
	registry.byName[name] = d
	return nil
}

// Names lists the registered drivers in alphabetical order.
func Names() []string {
	registry.RLock()
	defer registry.RUnlock()
	names := make([]string, 0, len(registry.byName))
	for n := range registry.byName {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Lookup finds a driver by name. The error, an ErrUnknown, is one line that
// says which names there are and which one was probably meant.
func Lookup(name string) (Driver, error) {
	registry.RLock()
	d := registry.byName[name]
	registry.RUnlock()
	if d != nil {
		return d, nil
	}
	names := Names()
	if len(names) == 0 {
		return nil, fmt.Errorf("%w %q: this program was built without any", ErrUnknown, name)
	}
	hint := ""
	if best := nearest(name, names); best != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", best)
	}
	return nil, fmt.Errorf("%w %q; there are: %s%s", ErrUnknown, name, strings.Join(names, ", "), hint)
}

// nearest gives the one of names that is at most two edits, and fewer than its
// own length, away from name; "" if none is.
func nearest(name string, names []string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if len(name) > 2*MaxName {
		return ""
	}
	best, least := "", 3
	for _, n := range names {
		if d := edits(name, n); d < least && d < len(n) {
			best, least = n, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two short strings, in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, row[j+1] = row[j+1], min(diag+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
