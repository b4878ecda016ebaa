package timeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Event is one entry of the Trace Event Format. Times are in microseconds.
type Event struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"` // X slice, i instant, b and e asynchronous slice, s and f arrow, M about a row
	TS    Micros         `json:"ts"`
	Dur   Micros         `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	ID    string         `json:"id,omitempty"`
	Scope string         `json:"s,omitempty"`  // of an instant
	Bind  string         `json:"bp,omitempty"` // of an arrow's end: e, the enclosing slice
	Args  map[string]any `json:"args,omitempty"`
}

// Micros is a time in ns that is written in microseconds, with all its digits.
type Micros int64

// MarshalJSON implements json.Marshaler.
func (m Micros) MarshalJSON() ([]byte, error) {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	return fmt.Appendf(nil, "%s%d.%03d", sign, int64(m)/1000, int64(m)%1000), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Micros) UnmarshalJSON(text []byte) error {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return fmt.Errorf("timeline: a time that is no number: %q", text)
	}
	*m = Micros(f*1000 + 0.5)
	return nil
}

// Timeline is a file of the Trace Event Format.
type Timeline struct {
	Events []Event `json:"traceEvents"`
	Unit   string  `json:"displayTimeUnit"`
	About  About   `json:"otherData"`
}

// About is what a file says about itself.
type About struct {
	Clock string `json:"clock"`   // what the times of all processes are taken from
	Base  int64  `json:"base_ns"` // its value at time 0 of the file
	Lost  uint64 `json:"lost"`    // older events that did not fit into the rings
}

// Clock is the About.Clock of timelines whose times are of the kernel's monotonic clock, as those of Of are: such of
// one host can be merged.
const Clock = "CLOCK_MONOTONIC"

// Write writes the file, an event to a line. It blocks as w does.
func (t *Timeline) Write(w io.Writer) error {
	about, err := json.Marshal(t.About)
	if err == nil {
		_, err = fmt.Fprintf(w, "{\"displayTimeUnit\":%q,\"otherData\":%s,\"traceEvents\":[", t.Unit, about)
	}
	separator := "\n"
	for i := 0; err == nil && i < len(t.Events); i++ {
		var line []byte
		if line, err = json.Marshal(&t.Events[i]); err == nil {
			_, err = fmt.Fprintf(w, "%s%s", separator, line)
		}
		separator = ",\n"
	}
	if err == nil {
		_, err = io.WriteString(w, "\n]}\n")
	}
	if err != nil {
		return fmt.Errorf("timeline: write: %w", err)
	}
	return nil
}

// Read reads what Write wrote.
func Read(r io.Reader) (*Timeline, error) {
	t := &Timeline{}
	if err := json.NewDecoder(r).Decode(t); err != nil {
		return nil, fmt.Errorf("timeline: read: %w", err)
	}
	return t, nil
}

// Merge puts timelines of several processes of one host into one, which begins when the first of them does. It fails if
// they do not share a clock.
func Merge(parts ...*Timeline) (*Timeline, error) {
	all := &Timeline{Unit: "ns", About: About{Clock: Clock}}
	if len(parts) == 0 {
		return all, nil
	}
	all.About.Base = parts[0].About.Base
	for i, p := range parts {
		if p.About.Clock != Clock {
			return nil, fmt.Errorf("timeline: merge: part %d has its times from %q instead of %s: the two cannot be put side by side", i, p.About.Clock, Clock)
		}
		all.About.Base = min(all.About.Base, p.About.Base)
	}
	for _, p := range parts {
		all.About.Lost += p.About.Lost
		for _, e := range p.Events {
			if e.Phase != "M" {
				e.TS += Micros(p.About.Base - all.About.Base)
			}
			all.Events = append(all.Events, e)
		}
	}
	all.sort()
	return all, nil
}

// sort orders by time; what describes rows first, of slices that begin together the longer one first, so that the other
// lies inside.
func (t *Timeline) sort() {
	slices.SortStableFunc(t.Events, func(a, b Event) int {
		switch {
		case (a.Phase == "M") != (b.Phase == "M"):
			if a.Phase == "M" {
				return -1
			}
			return 1
		case a.TS != b.TS:
			return cmp.Compare(a.TS, b.TS)
		}
		return cmp.Compare(b.Dur, a.Dur)
	})
}
