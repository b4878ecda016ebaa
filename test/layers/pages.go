package layers

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	fenced      = regexp.MustCompile("(?s)```.*?```")
	inBackticks = regexp.MustCompile("`([^`]+)`")
	rejected    = regexp.MustCompile(`(?s)\n## Rejected\n.*?(?:\n## |$)`)
	dated       = regexp.MustCompile(`/\d{4}-\d\d-\d\d-`) // what was measured on a day keeps the names that it had then
	example     = regexp.MustCompile(`\b(?:NAME|DATE|PREFIX)\b`)
	linkTo      = regexp.MustCompile(`\]\([^)]*\)`)
	oneWord     = regexp.MustCompile(`^[a-z][\w-]+$`)
	pathName    = regexp.MustCompile(`[a-z]\w*(?:/[\w.-]*\w)+`)
)

// page looks at what a page has between backticks, and at the rest of its prose: programs apart, and what a decision
// has rejected.
func (x *names) page(name string) {
	empty := func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }
	text := rejected.ReplaceAllStringFunc(fenced.ReplaceAllStringFunc(x.texts[name], empty), empty)
	for i, line := range strings.Split(text, "\n") {
		report := func(format string, args ...any) {
			x.found = append(x.found, Violation{fmt.Sprintf("%s:%d", name, i+1), fmt.Sprintf(format, args...)})
		}
		for _, m := range inBackticks.FindAllStringSubmatch(line, -1) {
			x.span(path.Dir(name), m[1], report)
		}
		x.span(path.Dir(name), linkTo.ReplaceAllString(inBackticks.ReplaceAllString(line, " "), " "), report)
	}
}

// span looks at a piece of a page in that folder.
func (x *names) span(folder, text string, report func(format string, args ...any)) {
	text = aside.ReplaceAllString(text, " ")
	for _, v := range variable.FindAllString(text, -1) {
		if !x.isForeign(v) && !x.asked[v] && !x.others[v] {
			report("no program asks for %s", v)
		}
	}
	text = fileName.ReplaceAllStringFunc(text, func(file string) string {
		if ours.MatchString(file) && !strings.Contains(file, "*") && !example.MatchString(file) && !x.somewhere(folder, file) {
			report("there is no file %s", file)
		}
		return " "
	})
	text = pathName.ReplaceAllStringFunc(text, func(p string) string {
		if top, _, _ := strings.Cut(p, "/"); x.folders[top] && !example.MatchString(p) && !x.somewhere(folder, p) {
			report("there is no %s", p)
		}
		return " "
	})
	if oneWord.MatchString(text) && !x.isForeign(text) && !x.literals[text] && !x.folders[text] && !x.knownAnywhere(text) {
		report("no code has %s", text)
	}
	end := 0
	for _, m := range word.FindAllStringIndex(text, -1) {
		between := text[end:m[0]]
		end = m[1]
		name, call := strings.CutSuffix(text[m[0]:m[1]], "(")
		part := between != "" && strings.ContainsAny(between[len(between)-1:], notBefore) || end < len(text) && strings.ContainsAny(text[end:end+1], "/-")
		if (strings.Contains(name, ".") || inner.MatchString(name) || call && !manual.MatchString(text[end:])) && !part && strings.ToUpper(name) != name && !x.meant(folder, name) {
			report("there is no %s", name)
		}
	}
}

// somewhere reports whether there is a file, or folder, of that name, or one whose path ends so.
func (x *names) somewhere(folder, name string) bool {
	if x.isForeign(name) {
		return true
	}
	for _, p := range []string{path.Join(folder, name), path.Clean(name)} {
		if x.files[p] || x.folders[p] {
			return true
		}
	}
	for _, all := range []map[string]bool{x.files, x.folders} {
		for p := range all {
			if strings.HasSuffix(p, "/"+name) {
				return true
			}
		}
	}
	return false
}

// meant reports whether a page in that folder may use the name: as a comment of its room may, or as one of the room
// that declares it.
func (x *names) meant(folder, name string) bool {
	if r := x.rooms[folder]; r != nil && x.resolves(r, name, false) {
		return true
	}
	parts := strings.Split(name, ".")
	if x.isForeign(name) || x.isForeign(parts[0]) {
		return true
	}
	if len(parts) == 1 {
		return x.knownAnywhere(name)
	}
	var known, ours bool // ours: there is a package, or a type, of the first name
	for _, r := range x.rooms {
		if to, ok := r.imports[parts[0]]; ok && !strings.HasPrefix(to, x.module) {
			return true
		}
		if r.name == parts[0] {
			ours = true
			known = known || r.declared[parts[1]] && member(r.types, parts[1:], func() bool { return x.allAnywhere(parts[2:]) })
		}
		if r.declared[parts[0]] { // a small letter may be that of a variable
			ours = ours || ast.IsExported(parts[0])
			known = known || member(r.types, parts, func() bool { return x.know(r, parts[1:]) })
		}
	}
	return known || !ours && x.allAnywhere(parts[1:])
}

func (x *names) allAnywhere(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !x.knownAnywhere(w) })
}

// knownAnywhere reports whether some code has the word, or the name of a test begins with it; an s at its end may be
// one too many.
func (x *names) knownAnywhere(word string) bool {
	if x.others[word] || types.Universe.Lookup(word) != nil {
		return true
	}
	for _, r := range x.rooms {
		if r.words[word] {
			return true
		}
		for test := range r.tests {
			if strings.HasPrefix(test, word) {
				return true
			}
		}
	}
	one, more := strings.CutSuffix(word, "s")
	return more && x.knownAnywhere(one)
}
