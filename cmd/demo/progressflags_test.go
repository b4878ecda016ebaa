package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/pioman"
)

// --help lists the same flags.
func TestHelpListsTheParameters(t *testing.T) {
	for _, command := range []string{"explain-progress", "pingpong", "bench"} {
		text := helpOf(t, command)
		for _, row := range pioman.ParamTable() {
			if !strings.Contains(text, "--"+row.Name+"=") {
				t.Errorf("demo %s --help does not name --%s", command, row.Name)
			}
			if !strings.Contains(text, row.Env) {
				t.Errorf("demo %s --help does not name %s", command, row.Env)
			}
		}
	}
}

var breaks = regexp.MustCompile(`\s+`)

// helpOf is the text of demo command --help, in one line.
func helpOf(t *testing.T, command string) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan string)
	go func() {
		var b strings.Builder
		buf := make([]byte, 4096)
		for {
			n, err := r.Read(buf)
			b.Write(buf[:n])
			if err != nil {
				text <- b.String()
				return
			}
		}
	}()
	stdout := os.Stdout
	os.Stdout = w
	_, _ = parse([]string{command, "--help"}, func(int) {})
	os.Stdout = stdout
	w.Close()
	return breaks.ReplaceAllString(<-text, " ")
}
