package readme

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tableRule is the second line of a table: |---|--:|.
var tableRule = regexp.MustCompile(`^\|(\s*:?-+:?\s*\|)+$`)

// TestTables: the tables of all pages are tables to a reader's viewer, too.
func TestTables(t *testing.T) {
	tables := 0
	for name, page := range sources(t) {
		if filepath.Ext(name) != ".md" || dated.MatchString(name) {
			continue
		}
		n, broken := brokenTables(page)
		tables += n
		for _, b := range broken {
			t.Errorf("%s: %s", name, b)
		}
	}
	if tables < 100 {
		t.Errorf("found %d tables only", tables)
	}
}

// brokenTables counts the tables of a page, and lists the lines that begin with a bar and are in none: those of a table
// without a rule below its titles, and those with another number of cells than the titles.
func brokenTables(page string) (tables int, broken []string) {
	lines := strings.Split(page, "\n")
	inFence := false
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(strings.TrimSpace(lines[i]), "```") {
			inFence = !inFence
		}
		if inFence || !strings.HasPrefix(lines[i], "|") {
			continue
		}
		tables++
		if i+1 == len(lines) || !tableRule.MatchString(lines[i+1]) {
			broken = append(broken, fmt.Sprintf("line %d begins a table without a rule below its titles: %.60s", i+1, lines[i]))
		}
		cells := cellsOf(lines[i])
		for ; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ {
			if n := cellsOf(lines[i]); n != cells {
				broken = append(broken, fmt.Sprintf("line %d has %d cells, its table %d: %.60s", i+1, n, cells, lines[i]))
			}
		}
	}
	return tables, broken
}

// cellsOf counts the cells of a line of a table.
func cellsOf(line string) int { return strings.Count(line, "|") - strings.Count(line, `\|`) - 1 }

func TestBrokenTablesAreSeen(t *testing.T) {
	good := "| a | b |\n|---|--:|\n| 1 | `x\\|y` |\n\ntext\n```\n| no table\n```\n"
	if n, broken := brokenTables(good); n != 1 || len(broken) != 0 {
		t.Errorf("found %d tables, and %v in good ones", n, broken)
	}
	bad := "| a | b |\n|---|---|\n| 1 |\n\n| 2 | 3 |\n"
	if _, broken := brokenTables(bad); len(broken) != 2 {
		t.Errorf("found %v, want two", broken)
	}
}
