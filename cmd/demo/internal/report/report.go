package report

import (
	"math"
	"strconv"
)

// Report is one experiment. Its JSON form is a contract with its readers.
type Report struct {
	Experiment string  `json:"experiment"`
	Machine    Machine `json:"machine"`
	Parameters any     `json:"parameters"` // a struct with JSON tags
	Rows       []Row   `json:"rows"`
	Skipped    []Skip  `json:"skipped"`
}

// Row is one measured row: a struct whose fields have JSON tags and are strings, integers, floats, booleans or pointers
// to such (nil: not measured).
type Row interface {
	// Head is the table's heading, one or more lines, the same for all rows.
	Head() string
	// Line is the row in the table.
	Line() string
}

// Skip is a row that could not be measured here.
type Skip struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Round keeps two decimals: a hundredth of a nanosecond is below any clock here.
func Round(x float64) float64 { return math.Round(x*100) / 100 }

// Significant keeps four digits, for figures that range over many decades.
func Significant(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	// By way of text: no binary fraction of a unit spoils the digits.
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 3, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// Optional rounds a figure that may be missing: zero or less is nil.
func Optional(x float64) *float64 {
	if x <= 0 {
		return nil
	}
	x = Round(x)
	return &x
}

// Duration writes nanoseconds in the unit that a person would use.
func Duration(ns float64) string {
	switch {
	case ns < 1e4:
		return strconv.FormatFloat(ns, 'f', 1, 64) + " ns"
	case ns < 1e7:
		return strconv.FormatFloat(ns/1e3, 'f', 1, 64) + " us"
	}
	return strconv.FormatFloat(ns/1e6, 'f', 1, 64) + " ms"
}
