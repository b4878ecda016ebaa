// Package stats is what a scheduler has done, as values: counters, times and histograms of
// its VPs, which can be added, subtracted and shown. It knows no scheduler.
package stats
