package names

import "strings"

// nearest gives the one of names that is at most two edits, and fewer than its
// own length, away from name; "" if none is.
func nearest(name string, names []string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if len(name) > 2*MaxName {
		return ""
	}
	best, least := "", 3
	for _, n := range names {
		if d := edits(name, n); d < least && d < len(n) {
			best, least = n, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two short strings, in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, row[j+1] = row[j+1], min(diag+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
