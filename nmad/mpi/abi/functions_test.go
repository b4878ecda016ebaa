package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEachFunction: a program in C of testdata calls each function of the table, in one of its widths, by its name or
// by that for tools.
func TestEachFunction(t *testing.T) {
	programs, err := filepath.Glob("testdata/*.[ch]")
	if err != nil {
		t.Fatal(err)
	}
	comments, calls := regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"`), regexp.MustCompile(`\bP?MPI_(\w+)\s*\(`)
	called := map[string]bool{}
	for _, program := range programs {
		text, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range calls.FindAllStringSubmatch(comments.ReplaceAllString(string(text), ""), -1) {
			called[strings.TrimSuffix(call[1], "_c")] = true
		}
	}
	for _, name := range names(t) {
		if name = strings.TrimSuffix(name, "_c"); !called[name] {
			t.Errorf("no program calls MPI_%s", name)
		}
		called[name] = true // each is named once
	}
}

// TestFunctionsAreCounted: docs/abi.md has their number.
func TestFunctionsAreCounted(t *testing.T) {
	page, err := os.ReadFile("../../../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("has all %d functions of the MPI standard", len(names(t))); !strings.Contains(string(page), want) {
		t.Errorf("docs/abi.md lacks %q", want)
	}
}

// names are those of the functions of the table.
func names(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("table.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		head, _, ok := strings.Cut(line, "(")
		if words := strings.Fields(head); ok && len(words) == 4 {
			if all = append(all, words[3]); words[1] == "2" {
				all = append(all, words[3]+"_c")
			}
		}
	}
	return all
}
