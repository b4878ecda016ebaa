package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/fault"
)

// Plan says what a Proxy does to the bytes that go through it. The zero value: nothing.
type Plan struct {
	Seed uint64 // decides all dice: same seed, same bytes, same faults

	Short float64      // share of blocks that go on in two pieces, 0 to 1
	Delay fault.Chance // share of blocks before which nothing goes on for so long

	Connection int    // the edits are for the connection of that number, from 1 on; 0: for each
	Edits      []Edit // what becomes of which bytes

	Quiet time.Duration // a connection that was edited is cut when nothing has come on it for so long; 0: it is not
	Last  time.Duration // each connection is cut after so long; 0: it is not

	Strangers int // connections that the proxy makes by itself, to send invented bytes on them
	Play      int // the number of the connection that goes nowhere: the proxy itself answers, with invented bytes; 0: none

	Rights   string // what becomes of the descriptors of a message: lose, double, other; empty: they go on
	Scribble Spoil  // words of shared memory that are overwritten
}

// Spoil is how many words are overwritten, and how often.
type Spoil struct {
	Words int           // at most maxSpoil
	Every time.Duration // at least 10 us
}

// Edit is something that happens at one place of what one side sends. The place is in what was sent, not in what
// went on: so edits do not move each other.
type Edit struct {
	Kind string // see Edits in the package's documentation
	Down bool   // in what the listener sends; else in what the dialer sends

	// The first byte: the At-th of all, or the one that many bytes behind the beginning of the Packet-th packet. Both
	// count from 1 on.
	Packet uint64
	At     uint64

	Size int           // bytes, 1 to maxEdit; cut, end, wait: none
	For  time.Duration // wait: how long
}

const (
	maxEdit      = 4096 // bytes of an edit
	maxSpoil     = 1 << 16
	maxStrangers = 1 << 10
	maxPause     = 10 * time.Second // of a wait, a silence, a connection
)

var (
	editKinds  = []string{"flip", "drop", "repeat", "swap", "invent", "cut", "end", "wait"}
	rightKinds = []string{"lose", "double", "other"}
)

// sized reports whether an edit has a size.
func sized(kind string) bool { return kind != "cut" && kind != "end" && kind != "wait" }

// Parse reads the plan of a proxy; see the package. The error, a driver.ErrConfig, is one line.
func Parse(text string) (Plan, error) {
	var p Plan
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		name, value, _ := strings.Cut(word, "=")
		if err := p.set(name, value); err != nil {
			return Plan{}, fmt.Errorf("proxy: %w: %q in the plan %q: %w", driver.ErrConfig, word, text, err)
		}
	}
	return p, nil
}

func (p *Plan) set(name, value string) (err error) {
	if slices.Contains(editKinds, name) {
		e := Edit{Kind: name}
		if err = e.read(value); err == nil {
			p.Edits = append(p.Edits, e)
		}
		return err
	}
	switch name {
	case "seed":
		p.Seed, err = strconv.ParseUint(value, 0, 64)
	case "short":
		if p.Short, err = strconv.ParseFloat(value, 64); err != nil || !(p.Short >= 0 && p.Short <= 1) { // nor a NaN
			err = fmt.Errorf("give a share from 0 to 1")
		}
	case "delay":
		err = p.Delay.UnmarshalText([]byte(value))
	case "connection":
		p.Connection, err = count(value, 1<<20)
	case "quiet":
		p.Quiet, err = span(value)
	case "last":
		p.Last, err = span(value)
	case "strangers":
		p.Strangers, err = count(value, maxStrangers)
	case "play":
		p.Play, err = count(value, 1<<20)
	case "rights":
		if p.Rights = value; !slices.Contains(rightKinds, value) {
			err = fmt.Errorf("give one of %s", strings.Join(rightKinds, ", "))
		}
	case "scribble":
		words, every, _ := strings.Cut(value, ":")
		if p.Scribble.Words, err = count(words, maxSpoil); err == nil {
			p.Scribble.Every, err = time.ParseDuration(every)
		}
		if err != nil || p.Scribble.Every < leastSpoil {
			err = fmt.Errorf("give 1 to %d words, and a time of at least %v, such as 20:1ms", maxSpoil, leastSpoil)
		}
	default:
		err = fmt.Errorf("give seed, short, delay, connection, quiet, last, strangers, play, rights, scribble, or one of %s", strings.Join(editKinds, ", "))
	}
	return err
}

const leastSpoil = 10 * time.Microsecond

// read reads the value of an edit: DIRECTION:PLACE, and for most :SIZE.
func (e *Edit) read(value string) error {
	parts := strings.Split(value, ":")
	usage := fmt.Errorf("give up or down, and a byte from 1 on, or #PACKET+BYTE; behind it 1 to %d bytes, or for wait a time: up:1000:16, down:#3+9:4", maxEdit)
	if len(parts) < 2 || parts[0] != "up" && parts[0] != "down" {
		return usage
	}
	e.Down = parts[0] == "down"
	place := parts[1]
	if packet, at, ok := strings.Cut(place, "+"); ok && strings.HasPrefix(packet, "#") {
		n, err := strconv.ParseUint(packet[1:], 0, 64)
		if err != nil || n == 0 {
			return usage
		}
		e.Packet, place = n, at
	}
	var err error
	if e.At, err = strconv.ParseUint(place, 0, 64); err != nil || e.At == 0 {
		return usage
	}
	switch {
	case e.Kind == "wait" && len(parts) == 3:
		if e.For, err = span(parts[2]); err == nil {
			return nil
		}
	case sized(e.Kind) && len(parts) == 3:
		if e.Size, err = count(parts[2], maxEdit); err == nil {
			return nil
		}
	case !sized(e.Kind) && e.Kind != "wait" && len(parts) == 2:
		return nil
	}
	return usage
}

// String writes an edit as a word of a plan.
func (e Edit) String() string {
	way, place, last := "up", strconv.FormatUint(e.At, 10), ""
	if e.Down {
		way = "down"
	}
	if e.Packet != 0 {
		place = fmt.Sprintf("#%d+%d", e.Packet, e.At)
	}
	if sized(e.Kind) {
		last = fmt.Sprintf(":%d", e.Size)
	} else if e.Kind == "wait" {
		last = fmt.Sprintf(":%v", e.For)
	}
	return fmt.Sprintf("%s=%s:%s%s", e.Kind, way, place, last)
}

// String writes a plan so that Parse reads it.
func (p Plan) String() string {
	var words []string
	add := func(set bool, format string, args ...any) {
		if set {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(true, "seed=%d", p.Seed)
	add(p.Short != 0, "short=%v", p.Short)
	add(p.Delay != fault.Chance{}, "delay=%v:%v", p.Delay.Share, p.Delay.For)
	add(p.Connection != 0, "connection=%d", p.Connection)
	for _, e := range p.Edits {
		words = append(words, e.String())
	}
	add(p.Quiet != 0, "quiet=%v", p.Quiet)
	add(p.Last != 0, "last=%v", p.Last)
	add(p.Strangers != 0, "strangers=%d", p.Strangers)
	add(p.Play != 0, "play=%d", p.Play)
	add(p.Rights != "", "rights=%s", p.Rights)
	add(p.Scribble.Words != 0, "scribble=%d:%v", p.Scribble.Words, p.Scribble.Every)
	return strings.Join(words, " ")
}

// check is for plans that were not parsed: what String writes of a good one can be read.
func (p Plan) check() error {
	again, err := Parse(p.String())
	if err == nil && !again.equal(p) {
		err = fmt.Errorf("proxy: %w: the plan %q says something else than what was given: a value is out of its bounds", driver.ErrConfig, p)
	}
	return err
}

func (p Plan) equal(q Plan) bool {
	same := slices.Equal(p.Edits, q.Edits)
	p.Edits, q.Edits = nil, nil
	return same && fmt.Sprintf("%+v", p) == fmt.Sprintf("%+v", q)
}

// of gives the edits for one direction of a connection, in order.
func (p *Plan) of(connection int, down bool) (edits []Edit) {
	if p.Connection != 0 && p.Connection != connection {
		return nil
	}
	for _, e := range p.Edits {
		if e.Down == down {
			edits = append(edits, e)
		}
	}
	slices.SortStableFunc(edits, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Packet, b.Packet), cmp.Compare(a.At, b.At))
	})
	return edits
}

func count(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("give a number, 1 to %d", most)
	}
	return n, nil
}

func span(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > maxPause {
		return 0, fmt.Errorf("give a time of at most %v, such as 300ms", maxPause)
	}
	return d, nil
}
