package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Variables of the environment.
const (
	envCompiler    = "PM2_MPICC_CC"
	envCompilerCXX = "PM2_MPICXX_CXX"
	envPrefix      = "PM2_MPI_PREFIX"
)

// language is whose compiler is run.
type language struct {
	name     string // what this command is called
	variable string // names the compiler
	compiler string // without the variable
}

// languageOf is the language of a command of that name: that of mpicc unless it is called mpicxx or mpic++.
func languageOf(path string) language {
	switch name := filepath.Base(path); name {
	case "mpicxx", "mpic++":
		return language{name, envCompilerCXX, "c++"}
	}
	return language{"mpicc", envCompiler, "cc"}
}

func main() {
	l := languageOf(os.Args[0])
	if err := run(l, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", l.name, err)
		os.Exit(1)
	}
}

// run becomes the compiler, or shows what it would be.
func run(l language, args []string) error {
	place, err := find(os.Getenv(envPrefix), os.Executable)
	if err != nil {
		return err
	}
	compiler := strings.Fields(os.Getenv(l.variable))
	if len(compiler) == 0 {
		compiler = []string{l.compiler}
	}
	var shown string
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool {
		switch a {
		case "-show", "-showme", "--showme":
			shown = "all"
		case "-showme:compile", "--showme:compile", "-compile-info", "-compile_info":
			shown = "compile"
		case "-showme:link", "--showme:link", "-link-info", "-link_info":
			shown = "link"
		default:
			return false
		}
		return true
	})
	switch shown {
	case "all":
		fmt.Println(line(command(compiler, args, place, true)))
		return nil
	case "compile":
		fmt.Println(line(place.compile()))
		return nil
	case "link":
		fmt.Println(line(place.link()))
		return nil
	}
	words := command(compiler, args, place, false)
	path, err := exec.LookPath(words[0])
	if err != nil {
		return fmt.Errorf("the compiler %s: %w: install one, or name another in %s", words[0], errors.Unwrap(err), l.variable)
	}
	return fmt.Errorf("run %s: %w", path, syscall.Exec(path, words, os.Environ()))
}

// place is where the library is installed.
type place struct{ include, lib string }

func (p place) compile() []string { return []string{"-I" + p.include} }

func (p place) link() []string {
	return []string{"-L" + p.lib, "-Wl,-rpath," + p.lib, "-lmpi_abi"}
}

// missing names what is not there. It is empty if all is there.
func (p place) missing() string {
	for _, name := range []string{filepath.Join(p.include, "mpi.h"), filepath.Join(p.lib, "libmpi_abi.so")} {
		if _, err := os.Stat(name); err != nil {
			return name
		}
	}
	return ""
}

// find finds the library: below a prefix, if one is given, or beside this program, also where that is a link to another
// place.
func find(prefix string, self func() (string, error)) (place, error) {
	at := func(prefix string) place {
		return place{filepath.Join(prefix, "include"), filepath.Join(prefix, "lib")}
	}
	if prefix != "" {
		prefix, err := filepath.Abs(prefix)
		if err != nil {
			return place{}, err
		}
		if p := at(prefix); p.missing() == "" {
			return p, nil
		} else {
			return place{}, fmt.Errorf("%s=%s: there is no %s: run make install PREFIX=%s in the source of pm2", envPrefix, prefix, p.missing(), prefix)
		}
	}
	path, err := self()
	if err != nil {
		return place{}, fmt.Errorf("find the library beside this program: %w: name its place in %s", err, envPrefix)
	}
	named := at(filepath.Dir(filepath.Dir(path)))
	if named.missing() == "" {
		return named, nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		if p := at(filepath.Dir(filepath.Dir(real))); p.missing() == "" {
			return p, nil
		}
	}
	return place{}, fmt.Errorf("the MPI library is not installed beside this program: there is no %s: run make install PREFIX=FOLDER in the source of pm2 and take FOLDER/bin/mpicc, or set %s=FOLDER",
		named.missing(), envPrefix)
}

// command is what is run. all: also what no file to be linked asks for.
func command(compiler, args []string, p place, all bool) []string {
	words := slices.Concat(compiler, p.compile(), args)
	if links(args) || all && !only(args) {
		words = append(words, p.link()...)
	}
	return words
}

// stops are the flags with which a compiler does not link.
var stops = []string{"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-dumpversion", "-dumpmachine"}

// only reports whether the compiler is not to link.
func only(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(stops, a) || strings.HasPrefix(a, "-print-") })
}

// valued are flags whose value is the next word, which is no file to be linked.
var valued = []string{"-o", "-I", "-L", "-D", "-U", "-x", "-include", "-isystem", "-iquote", "-idirafter", "-MF", "-MT", "-MQ", "-T", "-Xlinker", "-Xpreprocessor", "-Xassembler", "-u", "-z", "-l", "--param"}

// links reports whether the compiler links: there is a file, or a library, and no flag keeps the compiler from it.
func links(args []string) bool {
	if only(args) {
		return false
	}
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case slices.Contains(valued, a):
			i++
		case a == "-" || a != "" && a[0] != '-':
			return true
		}
	}
	return false
}

// line is a command as a shell reads it.
func line(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; w == "" || strings.ContainsAny(w, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
