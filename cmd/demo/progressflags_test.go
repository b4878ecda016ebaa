package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/pioman"
)

// --help-engine lists the same flags, but for those that say what the command says in another way.
func TestHelpListsTheParameters(t *testing.T) {
	for command, without := range map[string]string{"explain-progress": "", "pingpong": "flavour", "bench": "flavour"} {
		text := helpOf(t, command)
		for _, row := range pioman.ParamTable() {
			listed := row.Name != without
			if strings.Contains(text, "--"+row.Name+"=") != listed {
				t.Errorf("demo %s --help-engine names --%s: %v", command, row.Name, !listed)
			}
			if strings.Contains(text, row.Env) != listed {
				t.Errorf("demo %s --help-engine names %s: %v", command, row.Env, !listed)
			}
		}
	}
}

var breaks = regexp.MustCompile(`\s+`)

// helpOf is the text of demo command --help-engine, in one line.
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
	_, _ = parse([]string{command, helpEngine}, func(int) {})
	os.Stdout = stdout
	w.Close()
	return breaks.ReplaceAllString(<-text, " ")
}
