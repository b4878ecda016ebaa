package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// pages are those whose tables are run.
var pages = []string{"docs/aims.md", "README.md"}

// An entry is a command of the pages, as the index has it.
type entry struct {
	Command string   `json:"command"`
	Rows    []string `json:"rows"` // that name it
	File    string   `json:"file,omitempty"`
	Seconds float64  `json:"seconds"`
	Status  int      `json:"exit_status"` // -1: a signal ended it
	Skipped string   `json:"skipped,omitempty"`
}

var (
	// cell is one of a row, with the bar behind it; a bar within a cell is written with a backslash.
	cell = regexp.MustCompile(`(?:[^|\\]|\\.)*\|`)
	span = regexp.MustCompile("`([^`]+)`")
)

// commands are those of all pages, in their order, each once.
func commands(root string) (all []*entry, err error) {
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			return nil, fmt.Errorf("read the tables: %w", err)
		}
		if all, err = add(all, page, string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", page, err)
		}
	}
	return all, nil
}

// add adds to all the commands of those tables of a page that have a column "command".
func add(all []*entry, page, text string) ([]*entry, error) {
	column, inTable, found := -1, false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inTable = false
			continue
		}
		cells := cell.FindAllString(line[1:], -1)
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(c[:len(c)-1]), `\|`, "|")
		}
		if !inTable {
			inTable, column = true, slices.Index(cells, "command")
			continue
		}
		if column < 0 || strings.HasPrefix(cells[0], "---") {
			continue
		}
		var named [][]string
		if column < len(cells) {
			named = span.FindAllStringSubmatch(cells[column], -1)
		}
		if len(named) == 0 {
			return nil, fmt.Errorf("row %q names no command in backticks", cells[0])
		}
		found = true
		for _, m := range named {
			line := m[1]
			if !strings.HasPrefix(line, "demo ") && !strings.HasPrefix(line, "go ") {
				return nil, fmt.Errorf("row %q: %q is no whole command, which begins with demo or go", cells[0], line)
			}
			i := slices.IndexFunc(all, func(e *entry) bool { return e.Command == line })
			if i < 0 {
				i, all = len(all), append(all, &entry{Command: line})
			}
			all[i].Rows = append(all[i].Rows, page+": "+cells[0])
		}
	}
	if !found {
		return nil, fmt.Errorf(`no table has a column "command"`)
	}
	return all, nil
}
