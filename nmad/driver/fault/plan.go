package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Plan says what is to go wrong. The zero value: nothing, anywhere.
type Plan struct {
	Seed uint64 // decides all dice: same seed, same calls, same faults
	Rank Only   // the process in which things go wrong
	Peer Only   // and the peer on whose links they do

	Refuse float64 // share of calls of Send and Push that find no room, 0 to 1
	Short  float64 // share of calls of Push and Pull that move less than there is room for, 0 to 1
	Delay  Chance  // share of calls of Recv and Pull that begin a time in which nothing arrives
	Stall  Chance  // share of all calls that, their work done, take so long, as if the thread had lost its processor

	Cut  Point // where the connection is lost
	Flip Point // where a bit of a header is wrong

	Ring  int    // packets that the record of a link keeps; 0: DefaultRing
	Trace string // what the names of the files begin with to which records go; empty: no files
}

// DefaultRing is how many packets a record keeps if nothing else is said.
const DefaultRing = 1024

// maxRing bounds Plan.Ring, of 64 bytes each.
const maxRing = 1 << 22

// Only restricts a plan to one rank; the zero value does not.
type Only struct {
	Set  bool
	Rank int
}

// matches reports whether the plan holds for that rank.
func (o Only) matches(rank int) bool { return !o.Set || o.Rank == rank }

// Chance is something that takes a while, and happens now and then.
type Chance struct {
	Share float64       // 0 to 1
	For   time.Duration // at most maxPause
}

// maxPause bounds a delay and a stall: longer ones are no fault but a failure.
const maxPause = 10 * time.Second

// Point is a place in the traffic of a link, from 1 on; the zero value is none.
type Point struct {
	Where string // Cut: send, recv (packets), push, pull (bytes). Flip: a field of the header
	At    uint64
}

var (
	cuts  = []string{"send", "recv", "push", "pull"}
	flips = []string{"kind", "flags", "body", "tag", "size", "context", "cookie", "seq"}
)

// Parse reads a plan; see the package. The error, a driver.ErrConfig, is one line.
func Parse(text string) (Plan, error) {
	var p Plan
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		name, value, _ := strings.Cut(word, "=")
		if err := p.set(name, value); err != nil {
			return Plan{}, fmt.Errorf("fault: %w: %q in the plan %q: %w", driver.ErrConfig, word, text, err)
		}
	}
	return p, nil
}

// set sets the field of that name.
func (p *Plan) set(name, value string) (err error) {
	switch name {
	case "seed":
		p.Seed, err = number(value)
	case "rank":
		p.Rank, err = only(value)
	case "peer":
		p.Peer, err = only(value)
	case "refuse":
		p.Refuse, err = share(value)
	case "short":
		p.Short, err = share(value)
	case "delay":
		err = p.Delay.UnmarshalText([]byte(value))
	case "stall":
		err = p.Stall.UnmarshalText([]byte(value))
	case "cut":
		p.Cut, err = point(value, cuts)
	case "flip":
		p.Flip, err = point(value, flips)
	case "ring":
		var n uint64
		if n, err = number(value); err == nil && (n < 1 || n > maxRing) {
			err = fmt.Errorf("give 1 to %d", maxRing)
		}
		p.Ring = int(min(n, maxRing))
	case "trace":
		if p.Trace = value; value == "" {
			err = fmt.Errorf("give what the names of the files begin with")
		}
	default:
		err = fmt.Errorf("give seed, rank, peer, refuse, short, delay, stall, cut, flip, ring or trace")
	}
	return err
}

// check refuses a plan that Parse would not return.
func (p *Plan) check() error {
	switch {
	case !isShare(p.Refuse), !isShare(p.Short), !isShare(p.Delay.Share), !isShare(p.Stall.Share):
		return fmt.Errorf("fault: %w: shares are 0 to 1", driver.ErrConfig)
	case p.Delay.For < 0 || p.Delay.For > maxPause || p.Stall.For < 0 || p.Stall.For > maxPause:
		return fmt.Errorf("fault: %w: delays and stalls take 0 to %v", driver.ErrConfig, maxPause)
	case p.Cut.At != 0 && !slices.Contains(cuts, p.Cut.Where), p.Flip.At != 0 && !slices.Contains(flips, p.Flip.Where):
		return fmt.Errorf("fault: %w: cut at %q, flip at %q: give one of %s, one of %s", driver.ErrConfig,
			p.Cut.Where, p.Flip.Where, strings.Join(cuts, " "), strings.Join(flips, " "))
	case p.Ring < 0 || p.Ring > maxRing:
		return fmt.Errorf("fault: %w: a record of %d packets: give 0 to %d", driver.ErrConfig, p.Ring, maxRing)
	}
	return nil
}

func number(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("give a number")
	}
	return n, nil
}

func only(text string) (Only, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return Only{}, fmt.Errorf("give a rank")
	}
	return Only{true, int(n)}, nil
}

func isShare(x float64) bool { return x >= 0 && x <= 1 } // neither is a NaN

func share(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !isShare(x) {
		return 0, fmt.Errorf("give a share from 0 to 1")
	}
	return x, nil
}

// UnmarshalText reads a share and a time, 0.01:2ms.
func (c *Chance) UnmarshalText(text []byte) error {
	often, long, _ := strings.Cut(string(text), ":")
	s, err := share(often)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(long)
	if err != nil || d < 0 || d > maxPause {
		return fmt.Errorf("give a share and a duration of at most %v, such as 0.01:2ms", maxPause)
	}
	*c = Chance{s, d}
	return nil
}

func point(text string, places []string) (Point, error) {
	where, at, _ := strings.Cut(text, ":")
	n, err := number(at)
	if err != nil || n == 0 || !slices.Contains(places, where) {
		return Point{}, fmt.Errorf("give one of %s, and a number from 1 on, such as %s:100", strings.Join(places, ", "), places[0])
	}
	return Point{where, n}, nil
}
