package manager

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	// maxLine is the longest line of PMI that is read, in bytes: keys and values have at most
	// 1024 each in any manager.
	maxLine = 4096
	// maxSent is the longest line that is sent: hydra and Slurm read so much at once.
	maxSent = 1024
	// maxWords is how many words a line has at most.
	maxWords = 32
)

// line is a line of PMI 1.1: words of the form key=value, in any order, one of which is the command.
type line map[string]string

// parseLine reads a line without its newline. Words without a key belong to the message before them (msg is
// text for people, the only value that has blanks); anywhere else they are an error.
func parseLine(text string) (line, error) {
	l := line{}
	last := ""
	words := strings.Fields(text)
	if len(words) > maxWords {
		return nil, fmt.Errorf("a line of %d words, at most %d", len(words), maxWords)
	}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		switch {
		case !ok && last == "msg":
			l[last] += " " + w
			continue
		case !ok || key == "":
			return nil, fmt.Errorf("the word %.60q is not key=value", w)
		}
		if _, twice := l[key]; twice {
			return nil, fmt.Errorf("%.60q stands there twice", key)
		}
		l[key], last = value, key
	}
	if l["cmd"] == "" {
		return nil, fmt.Errorf("the line %.60q has no command", text)
	}
	return l, nil
}

// aborted reads a line that asks for the end of the job, and says whether it is one. It forgives: its message, which
// stands last, is any text, and a status that cannot be read is 1.
func aborted(text string) (status int, ok bool) {
	status = 1
	for _, w := range strings.Fields(text) {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "cmd":
			if ok = value == "abort"; !ok {
				return 0, false
			}
		case "exitcode":
			if n, err := strconv.ParseInt(value, 10, 32); err == nil {
				status = int(n)
			}
		case "message", "msg":
			return status, ok
		}
	}
	return status, ok
}

// number returns a value that must be a number from low to high.
func (l line) number(key string, low, high int) (int, error) {
	text, ok := l[key]
	if !ok {
		return 0, fmt.Errorf("%s is missing", key)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s=%.60q, and %d to %d was expected", key, text, low, high)
	}
	return n, nil
}

// failed says what a return code other than 0 means; nil: there is none, or it is 0.
func (l line) failed() error {
	rc, ok := l["rc"]
	if !ok || rc == "0" {
		return nil
	}
	if msg := l["msg"]; msg != "" {
		return fmt.Errorf("it refuses: rc=%.20s, %.200q", rc, msg)
	}
	return fmt.Errorf("it refuses: rc=%.20s", rc)
}

// word checks what is to be sent as a key or a value: it must have no blanks.
func word(what, text string, most int) error {
	if text == "" || len(text) > most {
		return fmt.Errorf("a %s of %d bytes, 1 to %d fit", what, len(text), most)
	}
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return fmt.Errorf("the %s %.60q has a blank or a byte that is not printable", what, text)
		}
	}
	return nil
}
