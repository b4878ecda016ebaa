package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// largestSize is the largest message the programs are asked for, in bytes: the length of an MPI message is an int.
const largestSize = math.MaxInt32

// parseSizes reads the sizes of messages: "1:64K" doubles from 1 to 64 KiB, "1,8,4K,1M" is a list; the suffixes K, M
// and G are binary.
func parseSizes(s string) ([]int, error) {
	if low, high, ok := strings.Cut(s, ":"); ok {
		first, err := parseSize(low)
		if err != nil {
			return nil, err
		}
		last, err := parseSize(high)
		if err != nil {
			return nil, err
		}
		if first > last {
			return nil, fmt.Errorf("sizes %q: the first is larger than the last; write %s:%s", s, high, low)
		}
		var sizes []int
		for n := first; n <= last; n *= 2 {
			sizes = append(sizes, n)
		}
		return sizes, nil
	}
	var sizes []int
	for one := range strings.SplitSeq(s, ",") {
		n, err := parseSize(one)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

func parseSize(s string) (int, error) {
	digits, shift := s, 0
	if s != "" {
		if i := strings.IndexByte("KMG", s[len(s)-1]); i >= 0 {
			digits, shift = s[:len(s)-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || n == 0 || n > largestSize>>shift {
		return 0, fmt.Errorf("size %q: write a number of bytes from 1 to %d, as in 8, 4K or 1M", s, largestSize)
	}
	return int(n) << shift, nil
}

// formatSize writes a size as parseSize reads it.
func formatSize(n int) string {
	for i, suffix := range []string{"G", "M", "K"} {
		if unit := 1 << (10 * (3 - i)); n >= unit && n%unit == 0 {
			return strconv.Itoa(n/unit) + suffix
		}
	}
	return strconv.Itoa(n)
}

// repetitions is how many timed round trips of messages, or windows, of so many bytes one run has: as many as take some
// 20 to 100 ms, and at least 10.
func repetitions(size int) int {
	switch {
	case size <= 8<<10:
		return 10000
	case size <= 64<<10:
		return 3000
	case size <= 1<<20:
		return 400
	case size <= 16<<20:
		return 100
	case size <= 64<<20:
		return 30
	default:
		return 10
	}
}
