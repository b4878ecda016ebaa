package layers

import (
	"fmt"
	"go/constant"
	"go/types"
	"math"
	"slices"
	"strconv"
	"strings"
)

// number finds the value of a constant, such as nmad/internal/flow.MinChunk.
func number(packages []*loaded, module, name string) (int64, error) {
	dot := strings.LastIndex(name, ".")
	i := slices.IndexFunc(packages, func(p *loaded) bool { return p.ImportPath == module+"/"+name[:dot] })
	if i < 0 {
		return 0, fmt.Errorf("there is no package %s", name[:dot])
	}
	c, ok := packages[i].types.Scope().Lookup(name[dot+1:]).(*types.Const)
	if !ok {
		return 0, fmt.Errorf("there is no constant %s", name)
	}
	return whole(c)
}

// whole is the value of a constant that is a whole number.
func whole(c *types.Const) (int64, error) {
	if v, ok := constant.Int64Val(constant.ToInt(c.Val())); ok {
		return v, nil
	}
	return 0, fmt.Errorf("the constant %s is no whole number: %v", c.Name(), c.Val())
}

// States says why a page does not have the sentence, in which %s is a constant of that name in units of that size.
func States(page, sentence string, packages []*loaded, module, name string, unit int64) error {
	n, err := number(packages, module, name)
	if err != nil {
		return err
	}
	if unit == 0 {
		unit = 1
	}
	if n%unit != 0 {
		return fmt.Errorf("%s is %d, no whole number of %d", name, n, unit)
	}
	plain := strconv.FormatInt(n/unit, 10)
	grouped := plain // with a comma before the last three digits
	if at := len(plain) - 3; at > 0 {
		grouped = plain[:at] + "," + plain[at:]
	}
	for _, digits := range []string{plain, grouped} {
		if strings.Contains(inOneLine(page), inOneLine(strings.Replace(sentence, "%s", digits, 1))) {
			return nil
		}
	}
	return fmt.Errorf("%s is %d, and the page lacks %q", name, n, strings.Replace(sentence, "%s", plain, 1))
}

func inOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// ListsKinds says which constants of a package, whose names begin with prefix, have no row in the page: their number,
// and the rest of the name in capitals; and which rows of that kind have a higher number.
func ListsKinds(page string, packages []*loaded, path, prefix string) (missing []string) {
	i := slices.IndexFunc(packages, func(p *loaded) bool { return p.ImportPath == path })
	if i < 0 {
		return []string{"there is no package " + path}
	}
	scope, found := packages[i].types.Scope(), 0
	for _, name := range scope.Names() {
		c, ok := scope.Lookup(name).(*types.Const)
		if kind, is := strings.CutPrefix(name, prefix); ok && is {
			n, err := whole(c)
			if row := fmt.Sprintf("\n| %d | %s |", n, strings.ToUpper(kind)); err != nil || !strings.Contains(page, row) {
				missing = append(missing, fmt.Sprintf("there is no row %q for %s.%s", row[1:], path, name))
			}
			found = max(found, int(min(n, math.MaxInt32)))
		}
	}
	for line := range strings.Lines(page) {
		var n int
		var kind string
		if _, err := fmt.Sscanf(line, "| %d | %s |", &n, &kind); err == nil && strings.ToUpper(kind) == kind && strings.Trim(kind, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && n > found {
			missing = append(missing, fmt.Sprintf("there is no constant for the row %q", strings.TrimSpace(line)))
		}
	}
	return missing
}
