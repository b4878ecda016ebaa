package pioman

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// CheckEnvironment says which variables PIOM_... of the environment no parameter has, so that they are
// without effect: nil, or an ErrParameter in one line that names them, and for each the one that may have been meant. An
// engine ignores them, since a program need not know what another version of it, or another program, is told; one that talks to
// its user may ask.
func CheckEnvironment() error { return checkEnvironment(os.Environ()) }

func checkEnvironment(environ []string) error {
	var unknown []string
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.ContainsFunc(table, func(x param) bool { return x.Env == name }) {
			continue
		}
		if meant := resembling(name); meant != "" {
			name += " (" + meant + "?)"
		}
		unknown = append(unknown, name)
	}
	if unknown == nil {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("%w: %s: not in the table, hence without effect", ErrParameter, strings.Join(unknown, ", "))
}

// envPrefix is how the variables of the table begin.
const envPrefix = "PIOM_"

// resembling is the variable of the table that is most like name; "": none is.
func resembling(name string) (meant string) {
	least := 1 + len(name)/5 // more wrong letters than that are another word
	for _, x := range table {
		if d := edits(name[len(envPrefix):], x.Env[len(envPrefix):]); d < least {
			meant, least = x.Env, d
		}
	}
	return meant
}

// edits counts the letters to be inserted, removed or changed in one word to make another of it
// (Levenshtein, 1966); small and capital ones are the same.
func edits(from, to string) int {
	from, to = strings.ToUpper(from), strings.ToUpper(to)
	row := make([]int, len(to)+1) // for what has been read of from
	for j := range row {
		row[j] = j
	}
	for i := range len(from) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(to) {
			change := corner
			if from[i] != to[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
