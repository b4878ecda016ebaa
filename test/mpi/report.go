package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// counts are the figures of a folder.
type counts struct{ tests, passed, failed, excluded int }

func (c *counts) add(x *result) {
	c.tests++
	switch {
	case x.excluded != "":
		c.excluded++
	case x.why == "":
		c.passed++
	default:
		c.failed++
	}
}

// share is how many of those that were run have passed.
func (c *counts) share() string {
	if c.passed+c.failed == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(c.passed)/float64(c.passed+c.failed))
}

// writeTable writes the results: by folder, then each failure with its reason, then why tests were left out.
func writeTable(w io.Writer, title string, results []result) error {
	by := map[string]*counts{}
	all := &counts{}
	for i := range results {
		x := &results[i]
		if by[x.folder] == nil {
			by[x.folder] = &counts{}
		}
		by[x.folder].add(x)
		all.add(x)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\n| folder | tests | passed | failed | left out | passed of those run |\n|---|---|---|---|---|---|\n", title)
	row := func(name string, c *counts) {
		fmt.Fprintf(&text, "| %s | %d | %d | %d | %d | %s |\n", name, c.tests, c.passed, c.failed, c.excluded, c.share())
	}
	for _, folder := range slices.Sorted(maps.Keys(by)) {
		row(folder, by[folder])
	}
	row("all", all)
	writeFailures(&text, results)
	writeExcluded(&text, results)
	_, err := io.WriteString(w, text.String())
	return err
}

func writeFailures(text *strings.Builder, results []result) {
	head := "\n| failed | why | its first line |\n|---|---|---|\n"
	for i := range results {
		if x := &results[i]; x.excluded == "" && x.why != "" {
			fmt.Fprintf(text, "%s| %s | %s | %s |\n", head, cut(x.title()), cut(x.why), x.line)
			head = ""
		}
	}
}

func writeExcluded(text *strings.Builder, results []result) {
	why := map[string][]string{}
	for i := range results {
		if x := &results[i]; x.excluded != "" {
			why[x.excluded] = append(why[x.excluded], x.folder+"/"+x.name)
		}
	}
	head := "\n| left out | how many | which |\n|---|---|---|\n"
	reasons := slices.SortedFunc(maps.Keys(why), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(why[b]), len(why[a])), strings.Compare(a, b))
	})
	for _, reason := range reasons {
		names := slices.Compact(slices.Sorted(slices.Values(why[reason])))
		fmt.Fprintf(text, "%s| %s | %d | %s |\n", head, cut(reason), len(why[reason]), strings.Join(names, ", "))
		head = ""
	}
}
