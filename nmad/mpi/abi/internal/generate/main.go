package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
)

// function is a line of table.txt, which says what the fields mean.
type function struct {
	kind   string // call, fast or here
	both   bool   // it has a second form, whose name ends in _c
	result string // type in C
	name   string // without the prefix MPI_
	params []string
}

func main() {
	out := flag.String("o", ".", "folder for the files")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	all, err := read("table.txt")
	if err != nil {
		return err
	}
	methods, err := methods(".")
	if err != nil {
		return err
	}
	text, err := goTable(all, methods)
	if err != nil {
		return err
	}
	header, err := os.ReadFile("include/mpi.h")
	if err != nil {
		return err
	}
	names, err := goConstants(string(header))
	if err != nil {
		return err
	}
	table, err := format.Source(text)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"include/mpi_functions_gen.h": prototypes(all), "front/calls_gen.h": cFunctions(all), "table_gen.go": table, "constants_gen.go": names} {
		name = filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// read reads table.txt.
func read(name string) (all []function, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		head, params, ok := strings.Cut(strings.TrimSuffix(line, ")"), "(")
		words := strings.Fields(head)
		if !ok || len(words) != 4 {
			return nil, fmt.Errorf("%s:%d: not a kind, widths and a declaration: %s", name, i+1, line)
		}
		f := function{kind: words[0], both: words[1] == "2", result: words[2], name: words[3]}
		if params != "void" {
			for p := range strings.SplitSeq(params, ",") {
				f.params = append(f.params, strings.TrimSpace(p))
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// widths replace what a declaration has in place of types, in the two forms of a function.
var widths = [2]*strings.Replacer{
	strings.NewReplacer("COUNT", "int", "DISP", "int", "ADDR", "MPI_Aint", "|", ""),
	strings.NewReplacer("COUNT", "MPI_Count", "DISP", "MPI_Aint", "ADDR", "MPI_Count", "|", "_c"),
}

// forms calls yield for each form of a function with its name, its parameters, and pm2_call.wide.
func (f *function) forms(yield func(name, params string, wide int)) {
	p := strings.Join(f.params, ", ")
	if p == "" {
		p = "void"
	}
	yield(f.name, widths[0].Replace(p), 0)
	if f.both {
		yield(f.name+"_c", widths[1].Replace(p), 1)
	}
}

// Heads of the files.
const (
	headOfC  = "/* Code generated from table.txt by go generate; DO NOT EDIT. */\n\n"
	headOfGo = "// Code generated from table.txt and include/mpi.h by go generate; DO NOT EDIT.\n\n//go:build cgo && linux\n\npackage main\n\n"
)

// prototypes returns include/mpi_functions_gen.h.
func prototypes(all []function) []byte {
	b := bytes.NewBufferString(headOfC)
	for _, prefix := range []string{"MPI_", "PMPI_"} {
		for i := range all {
			all[i].forms(func(name, params string, _ int) {
				fmt.Fprintf(b, "%s %s%s(%s);\n", all[i].result, prefix, name, params)
			})
		}
	}
	return b.Bytes()
}

// argument returns the name of a parameter, and whether it is a number.
func argument(p string) (name string, number bool) {
	head, _, array := strings.Cut(p, "[")
	i := strings.LastIndexAny(head, " *")
	number = !array && !strings.Contains(p, "*")
	if number {
		switch kind := strings.TrimSpace(strings.TrimPrefix(head[:i+1], "const ")); kind {
		case "int", "COUNT", "DISP", "ADDR", "MPI_Aint", "MPI_Count", "MPI_Offset", "MPI_T_cb_safety":
		default:
			number = false // a handle
		}
	}
	return head[i+1:], number
}

// cFunctions returns front/calls_gen.h.
func cFunctions(all []function) []byte {
	b := bytes.NewBufferString(headOfC)
	for i := range all {
		f := &all[i]
		f.forms(func(name, params string, wide int) {
			if f.kind != "here" {
				linkage, called := "", "PMPI_"+name
				if f.kind == "fast" {
					linkage, called = "static ", "cross_"+name
				}
				fmt.Fprintf(b, "%s%s %s(%s) CROSS(%d, %d,", linkage, f.result, called, params, i, wide)
				for j, p := range f.params {
					name, _ := argument(p)
					fmt.Fprintf(b, " WORD(%d, %s)", j, name)
				}
				b.WriteString(")\n")
			}
			fmt.Fprintf(b, "WEAK(%s)\n", name)
		})
	}
	return b.Bytes()
}

// method returns the name of a function's method in Go: words joined, each but the first with a capital letter.
func method(name string) string {
	words := strings.Split(name, "_")
	words[0] = strings.ToLower(words[0])
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}
