package size

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Max is the largest size, in bytes: 1 GiB. Each process holds two buffers of the largest size for each pair of
// threads.
const Max = 1 << 30

// maxItems bounds a list, so that a typing error cannot ask for days of work.
const maxItems = 1024

// List is a list of sizes in bytes, in the order in which they were given.
type List []int

// Parse reads a list. Its errors fit on one line and say what would be right.
func Parse(text string) (List, error) {
	var l List
	for item := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(item, ":")
		a, err := parseOne(first)
		if err != nil {
			return nil, err
		}
		b := a
		if isRange {
			if b, err = parseOne(last); err != nil {
				return nil, err
			}
			if b < a {
				return nil, fmt.Errorf("the range %q runs backwards: write it as %s:%s", item, last, first)
			}
		}
		for s := a; s <= b; s *= 2 {
			l = append(l, s)
		}
		if len(l) > maxItems {
			return nil, fmt.Errorf("more than %d sizes: use a range such as 1:4M, which doubles", maxItems)
		}
	}
	return l, nil
}

func parseOne(text string) (int, error) {
	digits, unit := text, 1
	if n := len(text); n > 0 {
		switch text[n-1] {
		case 'K':
			digits, unit = text[:n-1], 1<<10
		case 'M':
			digits, unit = text[:n-1], 1<<20
		case 'G':
			digits, unit = text[:n-1], 1<<30
		}
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			digits = ""
		}
	}
	if digits == "" {
		return 0, fmt.Errorf("%q is no size: write a number of bytes such as 8 or 4K (suffixes K, M, G), a list 1,8,4K or a range 1:64K", text)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > Max/int64(unit) {
		return 0, fmt.Errorf("%s is too large: the largest size is 1G", text)
	}
	if n == 0 {
		return 0, fmt.Errorf("%s is too small: the smallest size is 1 (byte)", text)
	}
	return int(n) * unit, nil
}

// UnmarshalText implements encoding.TextUnmarshaler for command lines.
func (l *List) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}

// UnmarshalJSON reads what encoding/json writes: a list of numbers. Without it the text form above would be expected.
func (l *List) UnmarshalJSON(text []byte) error {
	var sizes []int
	if err := json.Unmarshal(text, &sizes); err != nil {
		return err
	}
	for _, s := range sizes {
		if s < 1 || s > Max {
			return fmt.Errorf("a size of %d B: from 1 to %d are possible", s, Max)
		}
	}
	*l = sizes
	return nil
}

// Max is the largest size of the list in bytes, 0 for an empty list.
func (l List) Max() int {
	m := 0
	for _, s := range l {
		m = max(m, s)
	}
	return m
}

// String writes the list with binary suffixes, such as "1,8,4K".
func (l List) String() string {
	parts := make([]string, len(l))
	for i, s := range l {
		parts[i] = Format(s)
	}
	return strings.Join(parts, ",")
}

// Format writes one size with the largest suffix that keeps it exact: 4096 is "4K", 1000 is "1000".
func Format(bytes int) string {
	for _, u := range []struct {
		shift  int
		suffix string
	}{{30, "G"}, {20, "M"}, {10, "K"}} {
		if bytes != 0 && bytes&(1<<u.shift-1) == 0 {
			return strconv.Itoa(bytes>>u.shift) + u.suffix
		}
	}
	return strconv.Itoa(bytes)
}
