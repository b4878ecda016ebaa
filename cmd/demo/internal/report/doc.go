// Package report writes what an experiment measured: as a table for people, as JSON, or as CSV for programs that draw
// or compare.
//
//	experiment --- Begin(heading) --- Row, Row, Row ... --- End(skipped) ---> Writer ---> stdout
//
// The table and CSV appear row by row while the experiment runs, JSON as one document at its end. The columns of CSV
// are the keys of the JSON rows, in their order, so that a figure has one name wherever it appears. Warnings and
// progress go elsewhere: nothing but the results is written here.
package report
