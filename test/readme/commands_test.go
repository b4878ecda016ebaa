package readme

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// goFlags are flags of the go command and of every test.
var goFlags = strings.Fields("args bench benchmem benchtime blockprofile c count cover cpu cpuprofile exec failfast gcflags json list memprofile mutexprofile o overlay race run short skip tags timeout trace v vet")

var (
	fences     = regexp.MustCompile("(?s)```.*?```")
	spans      = regexp.MustCompile("`([^`\n]+)`")
	dated      = regexp.MustCompile(`/\d{4}-\d\d-\d\d-`)
	words      = regexp.MustCompile(`(?:[^\s'"]|'[^']*'|"[^"]*")+`)
	testName   = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Example|Fuzz)\w*)\(`)
	goFlag     = regexp.MustCompile(`\.\w+\((?:&?[\w.]+, )?"([a-z][\w.-]*)", `)
	tagged     = regexp.MustCompile("(?m)^\\s+(\\w+)\\s+[\\w\\[\\].*]+\\s+`([^`]*)`")
	named      = regexp.MustCompile(`\bname:"([\w-]+)"`)
	parameters = regexp.MustCompile(`\bName: +"([\w-]+)"`)
	inCamel    = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// TestCommands: the tests, benchmarks and flags that commands in pages name are there.
func TestCommands(t *testing.T) {
	all, known, commands := sources(t), map[string]*folder{}, 0
	for name, page := range all {
		if filepath.Ext(name) != ".md" || dated.MatchString(name) {
			continue
		}
		for _, c := range commandsOf(page) {
			commands++
			for _, wrong := range wrongWords(all, known, c) {
				t.Errorf("%s: %s: %s", name, strings.Join(c, " "), wrong)
			}
		}
	}
	if commands < 100 {
		t.Errorf("found %d commands only", commands)
	}
}

// sources are the pages and the Go files of the module, by name.
func sources(t *testing.T) map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(path); !entry.IsDir() && (ext == ".go" || ext == ".md") {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			all[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// commandsOf are the commands of a page that begin with go or demo, in words.
func commandsOf(page string) (all [][]string) {
	var lines []string
	for _, f := range fences.FindAllString(page, -1) {
		lines = append(lines, strings.Split(f, "\n")...)
	}
	for _, m := range spans.FindAllStringSubmatch(fences.ReplaceAllString(page, ""), -1) {
		lines = append(lines, strings.ReplaceAll(m[1], `\|`, "|"))
	}
	for _, line := range lines {
		c := words.FindAllString(line, -1)
		for i, w := range c {
			c[i] = strings.NewReplacer(`'`, "", `"`, "").Replace(w)
		}
		switch {
		case len(c) > 2 && c[0] == "go" && (c[1] == "test" || c[1] == "run"), len(c) > 1 && c[0] == "demo":
			if end := slices.IndexFunc(c, func(w string) bool { return w == "#" || w == "--" || w == ">" }); end > 0 {
				c = c[:end]
			}
			all = append(all, c)
		}
	}
	return all
}

// wrongWords says what a command names that is not there.
func wrongWords(all map[string]string, known map[string]*folder, command []string) (wrong []string) {
	folder := "" // none: a flag of any
	for _, w := range command {
		if w, ok := strings.CutPrefix(w, "./"); ok {
			folder = w
			break
		}
	}
	if command[0] == "demo" {
		folder = "cmd/demo"
	}
	f := known[folder]
	if f == nil {
		f = readFolder(all, folder)
		known[folder] = f
	}
	if len(f.flags) == 0 && len(f.tests) == 0 {
		return nil
	}
	for i, w := range command {
		if w == "-np" && command[0] == "demo" { // as mpirun has it
			continue
		}
		flag, value, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
		if !strings.HasPrefix(w, "-") || flag == "" {
			continue
		}
		if value == "" && i+1 < len(command) {
			value = command[i+1]
		}
		switch {
		case command[1] == "test" && (flag == "run" || flag == "bench" || flag == "skip"):
			pattern, _, _ := strings.Cut(value, "/")
			is, err := regexp.Compile(pattern)
			if found := err == nil && anyName(f.tests, flag == "bench", is); !found && pattern != "^$" && pattern != "NONE" && pattern != "NAME" {
				wrong = append(wrong, "no test is called "+pattern)
			}
		case !f.flags[flag] && !f.flags[strings.TrimPrefix(flag, "no-")] && !(command[0] == "go" && slices.Contains(goFlags, flag)) && flag != "help" && len(flag) > 1:
			wrong = append(wrong, "there is no flag "+flag)
		}
	}
	return wrong
}

// A folder is what commands of its packages, and of those below it, may name.
type folder struct{ tests, flags map[string]bool }

func readFolder(all map[string]string, name string) *folder {
	f := &folder{map[string]bool{}, map[string]bool{}}
	top, below := strings.CutSuffix(name, "/...")
	for file, text := range all {
		dir := filepath.Dir(file)
		switch {
		case filepath.Ext(file) != ".go":
			continue
		case name == "cmd/demo" && dir == "pioman":
			for _, m := range parameters.FindAllStringSubmatch(text, -1) {
				f.flags[m[1]] = true
			}
			continue
		case dir != top && !(below && strings.HasPrefix(dir, top+"/")) && dir != "internal/test/effort" && name != "":
			continue
		}
		if strings.HasSuffix(file, "_test.go") {
			for _, m := range testName.FindAllStringSubmatch(text, -1) {
				f.tests[m[1]] = true
			}
		}
		if strings.Contains(text, `"flag"`) {
			for _, m := range goFlag.FindAllStringSubmatch(text, -1) {
				f.flags[m[1]] = true
			}
		}
		if name != "cmd/demo" {
			continue
		}
		for _, m := range tagged.FindAllStringSubmatch(text, -1) {
			if n := named.FindStringSubmatch(m[2]); n != nil {
				f.flags[n[1]] = true
			} else {
				f.flags[strings.ToLower(inCamel.ReplaceAllString(m[1], "$1-$2"))] = true
			}
		}
	}
	return f
}

func anyName(tests map[string]bool, benchmarks bool, is *regexp.Regexp) bool {
	for name := range tests {
		if is.MatchString(name) && strings.HasPrefix(name, "Benchmark") == benchmarks {
			return true
		}
	}
	return false
}

func TestWrongWordsAreSeen(t *testing.T) {
	all := map[string]string{
		"a/a_test.go":      "package a\nimport \"flag\"\nfunc TestOne(t *testing.T) {}\nfunc BenchmarkTwo(b *testing.B) {}\nvar much = flag.Bool(\"much\", false, \"\")\n",
		"cmd/demo/main.go": "package main\ntype T struct {\n\tNoMore int  `help:\"x\"`\n\tX      bool `name:\"loud\"`\n}\n",
	}
	page := "`go test ./a -run One -much -v` `go test ./... -bench 'Two|Three'` `demo run --no-more --loud -- p --any`\n```\ngo test ./a -run TestOne/sub  # -x\n```\n| `go test ./a -run 'One\\|Two'` |"
	for _, c := range commandsOf(page) {
		if wrong := wrongWords(all, map[string]*folder{}, c); wrong != nil {
			t.Errorf("%q: %v", c, wrong)
		}
	}
	bad := "`go test ./a -run Two` `go test ./a -bench One` `go test ./a -less` `demo run --quiet`"
	commands := commandsOf(bad)
	for _, c := range commands {
		if wrong := wrongWords(all, map[string]*folder{}, c); len(wrong) != 1 {
			t.Errorf("%q: %v, want one", c, wrong)
		}
	}
	if len(commands) != 4 {
		t.Errorf("found %q", commands)
	}
}
