package main

import (
	"bufio"
	_ "embed" // of excluded.txt
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A test is a line of a list.
type test struct {
	folder  string // where it is, from the suite's folder
	name    string
	np      int
	args    []string
	env     []string // NAME=VALUE
	exec    []string // more arguments of mpiexec
	limit   time.Duration
	result  string // how it is judged; "": as the suite is
	xfail   string
	memory  float64 // in GB
	gpu     bool
	beyond  bool // it needs more than the standard
	version string
	hosts   int // how many it needs at least
}

// title names it in tables.
func (t *test) title() string {
	words := append([]string{t.folder + "/" + t.name, strconv.Itoa(t.np)}, t.args...)
	return strings.Join(append(words, t.env...), " ")
}

// parseTest reads a line; nil: there is none in it.
func parseTest(text, folder string, np int) (*test, error) {
	text, _, _ = strings.Cut(text, "#")
	fields := strings.Fields(text)
	if len(fields) == 0 || strings.HasPrefix(fields[0], "!") {
		return nil, nil // what has to be made first the build has made
	}
	t := &test{folder: folder, name: fields[0], np: np}
	if dir, name := filepath.Split(t.name); dir != "" {
		t.folder, t.name = filepath.Join(folder, dir), name
	}
	rest := fields[1:]
	if len(rest) > 0 && !strings.Contains(rest[0], "=") {
		n, err := strconv.Atoi(rest[0])
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no number of processes", rest[0])
		}
		t.np, rest = n, rest[1:]
	}
	for _, word := range rest {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("%q: write KEY=VALUE", word)
		}
		if err := t.set(key, value); err != nil {
			return nil, fmt.Errorf("%q: %w", word, err)
		}
	}
	return t, nil
}

func (t *test) set(key, value string) (err error) {
	switch key {
	case "arg":
		t.args = append(t.args, value)
	case "env":
		if name, _, ok := strings.Cut(value, "="); !ok || name == "" {
			return errors.New("write env=NAME=VALUE")
		}
		t.env = append(t.env, value)
	case "mpiexecarg":
		t.exec = append(t.exec, value)
	case "timeLimit":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return errors.New("no number of seconds")
		}
		t.limit = time.Duration(n) * time.Second
	case "resultTest":
		t.result = value
	case "xfail":
		t.xfail = value
	case "mem":
		if t.memory, err = strconv.ParseFloat(value, 64); err != nil {
			return errors.New("no number of gigabytes")
		}
	case "hasgpu":
		t.gpu = true
	case "strict":
		t.beyond = strings.EqualFold(value, "false")
	case "mpiversion":
		t.version = value
	case "init", "lock": // how that suite's own runner arranges them
	default:
		return errors.New("no such key: choose from arg, env, mpiexecarg, timeLimit, resultTest, xfail, mem, hasgpu, strict, mpiversion")
	}
	return nil
}

// readLists reads the list of a folder, and of those that it names. roots are where the folder may be: the first that
// has the list counts.
func readLists(roots []string, folder string, np int) (all []*test, err error) {
	file, err := openList(roots, folder)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		t, err := parseTest(lines.Text(), folder, np)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", file.Name(), n, err)
		}
		if t == nil {
			continue
		}
		if below := filepath.Join(t.folder, t.name); slices.ContainsFunc(roots, func(root string) bool { return isFolder(filepath.Join(root, below)) }) {
			more, err := readLists(roots, below, np)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
			continue
		}
		all = append(all, t)
	}
	return all, lines.Err()
}

func openList(roots []string, folder string) (*os.File, error) {
	for _, root := range roots {
		file, err := os.Open(filepath.Join(root, folder, "testlist"))
		if !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
	return nil, fmt.Errorf("no file testlist in %s, in %s", folder, strings.Join(roots, ", "))
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// A rulebook says which tests are left out.
type rulebook struct {
	most     int // processes
	memory   float64
	standard float64
	excluded map[string]string // by folder/name: why
	settings bool              // also those that differ from one before only by settings of MPICH
	seen     map[string]bool
}

// why says why a test is left out; "": it is not.
func (rb *rulebook) why(t *test) string {
	if why := rb.excluded[t.folder+"/"+t.name]; why != "" {
		return why
	}
	switch version, _ := strconv.ParseFloat(t.version, 64); {
	case t.xfail != "":
		return "its list expects it to fail"
	case t.gpu:
		return "needs a graphics processor"
	case t.beyond:
		return "goes beyond the standard, as its list says"
	case t.memory > rb.memory:
		return fmt.Sprintf("needs more than %g GB of memory", rb.memory)
	case version > rb.standard:
		return fmt.Sprintf("needs a later standard than %g", rb.standard)
	case t.hosts > 1:
		return "needs several hosts"
	case t.np > rb.most:
		return fmt.Sprintf("needs more than %d processes", rb.most)
	}
	if rb.settings {
		return ""
	}
	plain := *t
	plain.env = slices.DeleteFunc(slices.Clone(t.env), func(v string) bool { return strings.HasPrefix(v, "MPIR_") })
	key := plain.title()
	if rb.seen[key] {
		return "is there already, and differs only by settings of MPICH"
	}
	rb.seen[key] = true
	return ""
}

//go:embed excluded.txt
var alwaysExcluded string

// readExcluded reads what is always left out, and what -exclude names.
func readExcluded(name string) (map[string]string, error) {
	all := map[string]string{}
	if err := addExcluded(all, "excluded.txt", alwaysExcluded); err != nil || name == "" {
		return all, err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return all, addExcluded(all, name, string(text))
}

func addExcluded(all map[string]string, name, text string) error {
	for n, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		test, why, ok := strings.Cut(line, ":")
		if why = strings.TrimSpace(why); !ok || why == "" {
			return fmt.Errorf("%s, line %d: write FOLDER/PROGRAM: reason", name, n+1)
		}
		all[strings.TrimSpace(test)] = why
	}
	return nil
}
