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

// either returns a function that formats a switch by one of two words.
func either(no, yes string) func(bool) string {
	return func(is bool) string {
		if is {
			return yes
		}
		return no
	}
}

// onOff and idlers format switches; idlers is for Params.AllIdle: the VPs that poll when they are idle.
var onOff, idlers = either("off", "on"), either("package", "all")

// maxTime is the longest time that a parameter may have; in cycles it fits into 64 bits.
const maxTime = time.Hour

var timeValues = fmt.Sprintf("microseconds, or a time with its unit such as 10us or 2ms, 0s to %v", maxTime)

// parseTime parses a time with a unit, or a number of microseconds.
func parseTime(text string) (time.Duration, error) {
	if _, plain := strconv.ParseFloat(text, 64); plain == nil {
		text += "us"
	}
	d, err := time.ParseDuration(text)
	if d < 0 || d > maxTime {
		err = errValue
	}
	return d, err
}

// parseSpare parses 0 or 1.
func parseSpare(text string) (int, error) {
	if text != "0" && text != "1" {
		return 0, errValue
	}
	return int(text[0] - '0'), nil
}

// parseVP parses the number of a VP, or off, which is -1.
func parseVP(text string) (int, error) {
	if strings.EqualFold(text, vpText(-1)) {
		return -1, nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n), err
}

// vpText is the inverse of parseVP.
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
	AtTimer                       // a VP computes and reaches no other point
	AtLibrary                     // a thread enters a call that may block
	AtExplicit                    // a call of Engine.Poll

	NoPoints      Points = 0
	DefaultPoints        = AtIdle | AtSwitch | AtTimer | AtExplicit
	AllPoints            = DefaultPoints | AtLibrary
)

var pointNames = [...]string{"idle", "switch", "timer", "library", "explicit"}

// hookPoints are the hook points of the polling points, in the order of pointNames; AtExplicit has none.
var hookPoints = [...]hooks.Point{hooks.Idle, hooks.Switch, hooks.Timer, hooks.Library}

// String lists the points, joined by commas.
func (set Points) String() string {
	var names []string
	for i, name := range pointNames {
		if set&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	switch {
	case set&^AllPoints != 0:
		return fmt.Sprintf("%#x", uint8(set))
	case len(names) == 0:
		return "none"
	}
	return strings.Join(names, ",")
}

// parsePoints parses names of points joined by commas, all, or none.
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

// parseIdlers is the inverse of idlers.
func parseIdlers(text string) (all bool, err error) {
	if all = strings.EqualFold(text, idlers(true)); !all && !strings.EqualFold(text, idlers(false)) {
		err = errValue
	}
	return all, err
}

// maxParams is the length of the table; a test compares the two.
const maxParams = 10
