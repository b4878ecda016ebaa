package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
)

// An outcome is how the run of a test has ended.
type outcome struct {
	state  *os.ProcessState
	late   bool // it has taken too long
	killed bool // so its launcher was ended
	output []byte
	err    error // it was not started
}

var (
	noErrors = regexp.MustCompile(`(?m)^\s*(No [Ee]rrors|Test [Pp]assed)\s*$`)
	skips    = regexp.MustCompile(`(?m)^\s*Test Skipped\s*$`)
	invalid  = regexp.MustCompile(`(?i)\bfail(ed|ure)?\b|\binvalid\b`)
	signaled = regexp.MustCompile(`signal:? *([0-9]+)|signal \(?([A-Z]{3,})|(Segmentation fault|Aborted|panic:)`)
)

// verdict is what became of a test: why is "" if it has passed; skipped says that it found nothing to test.
type verdict struct {
	why     string // timeout, signal, exit status, no "No Errors", ...
	line    string // the first of its output that may say more
	skipped bool
}

// judge judges by what the list asks for, or as the suite does.
func judge(suite, result string, o outcome) verdict {
	v := verdict{line: telling(o.output)}
	switch {
	case o.err != nil:
		v.why, v.line = "not started", o.err.Error()
		return v
	case o.killed, o.late && result != "TestErrFatal" && result != "TestStatus": // the launcher may be asked to end what hangs
		v.why = "timeout"
		return v
	}
	status := o.state.ExitCode()
	if ws, ok := o.state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		v.why = fmt.Sprintf("mpiexec: signal %d", int(ws.Signal()))
		return v
	}
	switch {
	case result == "TestStatus" || result == "TestErrFatal": // the program has to fail
		if status == 0 {
			v.why = "status 0, where it has to fail"
		}
		return v
	case result == "TestStatusNoErrors":
		if !noErrors.Match(o.output) {
			v.why = "no line No Errors"
		} else if status == 0 {
			v.why = "status 0, where it has to fail"
		}
		return v
	case status != 0:
		v.why = fmt.Sprintf("exit status %d", status)
		if s := signaled.Find(o.output); s != nil {
			v.why = string(s)
		}
		return v
	case suite == suiteMPICH && result != "TestBench":
		v.skipped = skips.Match(o.output)
		if !v.skipped && !noErrors.Match(o.output) {
			v.why = "no line No Errors"
		}
	default:
		if at := invalid.Find(o.output); at != nil {
			v.why = "validation"
			v.line = lineWith(o.output, string(at))
		}
	}
	return v
}

const longestShown = 160

// telling is the first line of an output that says something.
func telling(output []byte) string {
	for line := range bytes.Lines(output) {
		text := strings.TrimSpace(string(line))
		if text != "" && !noErrors.MatchString(text) && !strings.HasPrefix(text, "====") {
			return cut(text)
		}
	}
	return ""
}

func lineWith(output []byte, word string) string {
	for line := range bytes.Lines(output) {
		if strings.Contains(string(line), word) {
			return cut(strings.TrimSpace(string(line)))
		}
	}
	return ""
}

// cut shortens a line for a table.
func cut(text string) string {
	text = strings.NewReplacer("|", "/", "`", "'", "\t", " ").Replace(strings.ToValidUTF8(text, "?"))
	if len(text) > longestShown {
		text = strings.ToValidUTF8(text[:longestShown], "") + "..."
	}
	return text
}
