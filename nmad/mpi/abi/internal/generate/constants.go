package main

import (
	"bytes"
	"fmt"
	"go/format"
	"regexp"
	"strings"
)

// constant is a line of include/mpi.h that gives a name to a number: an enumerator, or a macro, whose number may have a
// type. The groups are the name without the prefix MPI_, the type, and the number.
var constant = regexp.MustCompile(`(?m)^(?:#define |\t)MPI_(\w+) (?:= )?(?:\(\(([\w* ]+)\))?(-?\d\w*)\)?,?$`)

// goConstants returns Go's constants for those of the header. Their names are the words of the names in C, joined:
//
//	a class of errors   without the first word, MPI
//	a handle            likewise, with the word handle behind them
//	any other number    all words
//
// It also returns a table of the names in C by handle, without those of the tools interface.
func goConstants(header string) ([]byte, error) {
	b := bytes.NewBufferString(headOfGo + "const (\n")
	names := "// handleNames are the names of predefined objects in C.\nvar handleNames = map[handle]string{\n"
	for _, m := range constant.FindAllStringSubmatch(header, -1) {
		name, cType, number := m[1], m[2], m[3]
		switch {
		case name == "SUCCESS" || strings.HasPrefix(strings.TrimPrefix(name, "T_"), "ERR_"):
			fmt.Fprintf(b, "%s errorClass = %s\n", method(strings.ToLower(name)), number)
		case strings.HasPrefix(cType, "MPI_") && cType != "MPI_Offset" && !strings.HasSuffix(cType, "*"):
			if rest, ok := strings.CutPrefix(name, "2"); ok {
				name = "TWO_" + rest
			}
			name = method(strings.ToLower(name) + "_handle")
			fmt.Fprintf(b, "%s handle = %s\n", name, number)
			if !strings.HasPrefix(m[1], "T_") {
				names += fmt.Sprintf("%s: \"MPI_%s\",\n", name, m[1])
			}
		default:
			fmt.Fprintf(b, "%s = %s\n", method("mpi_"+strings.ToLower(name)), number)
		}
	}
	b.WriteString(")\n\n" + names + "}\n")
	return format.Source(b.Bytes())
}
