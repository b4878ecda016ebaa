package topo

import (
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// readInt reads a file that holds one number.
func readInt(fsys fs.FS, name string) (int64, bool) {
	text, err := readText(fsys, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n, err == nil
}

// readID reads a file that holds a number of 31 bits by which the system knows an item; -1 if there is none.
func readID(fsys fs.FS, name string) int {
	n, ok := readInt(fsys, name)
	if !ok || n < 0 || n > math.MaxInt32 {
		return -1
	}
	return int(n)
}

// readMask reads the first of the files that holds a mask of CPUs. Every kernel writes masks; the lists beside them are
// younger.
func readMask(fsys fs.FS, names ...string) (CPUSet, bool) {
	for _, name := range names {
		if text, err := readText(fsys, name); err == nil {
			if s, err := ParseCPUMask(firstLine(text)); err == nil {
				return s, true
			}
		}
	}
	return CPUSet{}, false
}

// readList reads a file that holds a list of CPUs or nodes.
func readList(fsys fs.FS, name string) (CPUSet, bool) {
	text, err := readText(fsys, name)
	if err != nil {
		return CPUSet{}, false
	}
	s, err := ParseCPUList(firstLine(text))
	return s, err == nil
}

// firstLine cuts off what some kernels write behind it: a zero byte.
func firstLine(text string) string {
	if i := strings.IndexAny(text, "\n\x00"); i >= 0 {
		return text[:i]
	}
	return text
}

// parseSize reads sizes such as "32K", in bytes; 0 if it is none.
func parseSize(text string) int64 {
	text = strings.TrimSpace(text)
	unit := int64(1)
	if n := len(text); n > 0 {
		switch text[n-1] {
		case 'K', 'k':
			unit = 1 << 10
		case 'M':
			unit = 1 << 20
		case 'G':
			unit = 1 << 30
		}
		if unit > 1 {
			text = text[:n-1]
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return 0
	}
	return n * unit
}
