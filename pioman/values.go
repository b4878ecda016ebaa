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

// either gives one of two words.
func either(no, yes string) func(bool) string {
	return func(is bool) string {
		if is {
			return yes
		}
		return no
	}
}

// onOff and idlers are switches as text; idlers are the VPs that poll when they are idle: one of each socket, or all.
var onOff, idlers = either("off", "on"), either("socket", "all")

// maxTime is the longest time that a parameter may say: it fits in cycles.
const maxTime = time.Hour

var timeValues = fmt.Sprintf("microseconds, or a time with its unit such as 10us or 2ms, 0s to %v", maxTime)

// parseTime takes a number alone as microseconds.
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

// parseIdlers takes what idlers says.
func parseIdlers(text string) (all bool, err error) {
	if all = strings.EqualFold(text, idlers(true)); !all && !strings.EqualFold(text, idlers(false)) {
		err = errValue
	}
	return all, err
}

// maxParams bounds the table; a test compares.
const maxParams = 10
