// Package top draws the counters of a scheduler as a table for people: what happened between two snapshots, per second
// and in percent.
package top
