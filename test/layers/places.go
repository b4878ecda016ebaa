package layers

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	anyWord = regexp.MustCompile(`[A-Za-z_]\w*`)
	oneName = regexp.MustCompile(`^[A-Za-z_][\w.]*$`)
	placed  = regexp.MustCompile(`([\w/]+\.go): ([^;:]+)`)
	include = regexp.MustCompile(`(?m)^#include.*$`)
)

// readText reads a file that is no Go: a page, or another text.
func (x *names) readText(tree fs.FS, name string) error {
	if dated.MatchString(name) {
		return nil
	}
	switch path.Ext(name) {
	case ".md", ".c", ".h", ".s", ".pml", ".py", ".txt", ".supp":
	default:
		return nil
	}
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return err
	}
	x.texts[name] = include.ReplaceAllString(string(text), "")
	if name == "docs/parameters.md" { // pioman's tests hold it to what makes these names
		for _, v := range variable.FindAllString(string(text), -1) {
			x.asked[v] = true
		}
	}
	if path.Ext(name) != ".md" {
		for _, w := range anyWord.FindAllString(string(text), -1) {
			x.others[w] = true
		}
	}
	return nil
}

// text looks at a model, a header, assembly or a table. The files that it names are there, what it says to stand in one
// of them ("gate.go: recv, send;") stands in a file of that name of its room, or below, and what is named with its
// package is declared there.
func (x *names) text(name string) {
	room, _, _ := strings.Cut(path.Dir(name), "/testdata")
	for i, line := range strings.Split(x.texts[name], "\n") {
		report := func(format string, args ...any) {
			x.found = append(x.found, Violation{fmt.Sprintf("%s:%d", name, i+1), fmt.Sprintf(format, args...)})
		}
		line = aside.ReplaceAllString(line, " ")
		for _, m := range placed.FindAllStringSubmatch(line, -1) {
			for _, w := range strings.Split(m[2], ", ") {
				if w = strings.TrimRight(w, " .*/"); !oneName.MatchString(w) {
					break // a sentence goes on
				}
				if x.somewhere(room, m[1]) && !x.stands(room, m[1], w[strings.LastIndex(w, ".")+1:]) {
					report("%s has no %s", m[1], w)
				}
			}
		}
		line = fileName.ReplaceAllStringFunc(line, func(file string) string {
			if ours.MatchString(file) && !strings.Contains(file, "*") && !x.somewhere(room, file) {
				report("there is no file %s", file)
			}
			return " "
		})
		for _, w := range word.FindAllString(line, -1) {
			first, rest, _ := strings.Cut(strings.TrimSuffix(w, "("), ".")
			if !ast.IsExported(rest) {
				continue
			}
			if declared, some := x.byPackage(first); some && !declared(rest) {
				report("there is no %s", w)
			}
		}
	}
}

// stands reports whether a file of that name, in the room or below it, declares a word.
func (x *names) stands(room, file, word string) bool {
	for f, words := range x.declared {
		if (f == file || strings.HasSuffix(f, "/"+file)) && below(f, room) && words[word] {
			return true
		}
	}
	return false
}

// byPackage finds what the packages of a name declare; some: there are such.
func (x *names) byPackage(name string) (declared func(string) bool, some bool) {
	var rooms []*room
	for _, r := range x.rooms {
		if r.name == name {
			rooms = append(rooms, r)
		}
	}
	return func(word string) bool {
		word, _, _ = strings.Cut(word, ".")
		return slices.ContainsFunc(rooms, func(r *room) bool { return r.declared[word] })
	}, rooms != nil
}
