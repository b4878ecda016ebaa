package manager

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	// maxLineBytes is the longest line that a reader accepts, in bytes. In all managers keys and values have at most
	// 1024 bytes each.
	maxLineBytes = 4096
	// maxSentBytes is the longest line that this package sends, in bytes: hydra and Slurm read at most that much at
	// once.
	maxSentBytes = 1024
	// maxWords is the largest number of words in a line.
	maxWords = 32
)

// line is one line of PMI 1.1: values by key. On the wire it is a list of words key=value, in any order; the value of
// the key cmd is the command.
type line map[string]string

// parseLine parses a line, which has no newline. The value of msg is text for people, and the only one that may have
// blanks: words without a key that follow it belong to it. Anywhere else a word without a key is an error.
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

// parseAbort parses a line that asks for the end of the job; ok reports whether the line is one. parseAbort is lenient:
// the message at the end of the line may be any text, and a status that is no number counts as 1.
func parseAbort(text string) (status int, ok bool) {
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

// number returns the value of a key, which must be a number from low to high.
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

// refusal returns an error if the answer has a return code (rc) other than 0.
func (l line) refusal() error {
	rc, ok := l["rc"]
	if !ok || rc == "0" {
		return nil
	}
	if msg := l["msg"]; msg != "" {
		return fmt.Errorf("it refuses: rc=%.20s, %.200q", rc, msg)
	}
	return fmt.Errorf("it refuses: rc=%.20s", rc)
}

// checkWord checks a key or a value before it is sent: it has 1 to most printable bytes, and no blanks. what names it
// in the error.
func checkWord(what, text string, most int) error {
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
