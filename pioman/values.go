package pioman

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pm2-go/pm2/hooks"
)

var errValue = errors.New("value not allowed")

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// maxTime is the longest time that a parameter may say: it fits in cycles.
const maxTime = time.Hour

var timeValues = fmt.Sprintf("microseconds, or a time with its unit such as 10us or 2ms, 0s to %v", maxTime)

// parseTime takes a number alone as microseconds.
func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if us, plain := strconv.ParseFloat(text, 64); plain == nil {
		if !(us >= 0 && us <= maxTime.Seconds()*1e6) {
			return 0, errValue
		}
		return time.Duration(us * 1e3), nil
	}
	if d < 0 || d > maxTime {
		err = errValue
	}
	return d, err
}

// parseSpare takes 0 or 1.
func parseSpare(text string) (int, error) {
	if text != "0" && text != "1" {
		return 0, errValue
	}
	return int(text[0] - '0'), nil
}

// parseVP takes the number of a VP, or off, which is -1.
func parseVP(text string) (int, error) {
	if strings.EqualFold(text, vpText(-1)) {
		return -1, nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n), err
}

func vpText(vp int) string {
	if vp == -1 {
		return "off"
	}
	return strconv.Itoa(vp)
}

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
	switch {
	case p&^AllPoints != 0:
		return fmt.Sprintf("%#x", uint8(p))
	case len(names) == 0:
		return "none"
	}
	return strings.Join(names, ",")
}

func parsePoints(text string) (set Points, err error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "all":
		return AllPoints, nil
	case "none":
		return NoPoints, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(pointNames[:], func(name string) bool { return strings.EqualFold(strings.TrimSpace(part), name) })
		if i < 0 {
			return 0, errValue
		}
		set |= 1 << i
	}
	return set, nil
}

// Distribution says which VPs poll when they are idle. With fewer pollers than VPs the cache lines of
// the queues move less, and the processors that compute have the memory to themselves (Denis, 2015).
type Distribution uint8

// The distributions.
const (
	OnePerSocket Distribution = iota // of each package, the VP that was idle first
	AllVPs                           // for experiments
)

var distributionNames = [...]string{"socket", "all"}

// String returns the name of the distribution as the environment has it.
func (d Distribution) String() string {
	if int(d) < len(distributionNames) {
		return distributionNames[d]
	}
	return "unknown"
}

func parseDistribution(text string) (Distribution, error) {
	i := slices.IndexFunc(distributionNames[:], func(name string) bool { return strings.EqualFold(text, name) })
	if i < 0 {
		return 0, errValue
	}
	return Distribution(i), nil
}

// maxParams bounds the table; a test compares.
const maxParams = 10
