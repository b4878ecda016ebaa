//go:build cgo && linux

package main

import (
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/lane"
)

var (
	notesOfC   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	numberOfC  = regexp.MustCompile(`#define (PM2_\w+) (\w+)`)
	numbersInC = regexp.MustCompile(`enum \{([^}]*)\};`)
)

// TestConstants: the numbers that stand both in C's headers and in Go are the same.
func TestConstants(t *testing.T) {
	c := numbersOfC(t, "front/call.h", "front/lane.h")
	for name, want := range map[string]int64{
		"PM2_SENT":  int64(sentHandle),
		"PM2_SLIP":  int64(slipHandle),
		"PM2_SLIPS": maxSlips,
		"PM2_COMMS": int64(len(frontState{}.comms)),

		"PM2_HANDLE_OF":        serviceHandleOf,
		"PM2_TEND":             serviceTend,
		"PM2_START_SLIP_TIMER": serviceStartSlipTimer,

		"PM2_FREE":    int64(lane.SlipFree),
		"PM2_WAITING": int64(lane.SlipWaiting),
		"PM2_DONE":    int64(lane.SlipDone),
		"PM2_GIVEN":   int64(lane.SlipGiven),
	} {
		if got, ok := c[name]; !ok || got != want {
			t.Errorf("%s is %#x in C (found: %v), and %#x in Go", name, got, ok, want)
		}
	}
}

// TestBool: a word of 32 bits is what C may read of an atomic.Bool.
func TestBool(t *testing.T) {
	if size := reflect.TypeFor[atomic.Bool]().Size(); size != 4 {
		t.Errorf("an atomic.Bool has %d bytes, and pm2_way reads 4", size)
	}
}

// numbersOfC are the PM2_ constants of headers: those that are defined as a number, and those of enumerations.
func numbersOfC(t *testing.T, files ...string) map[string]int64 {
	all := map[string]int64{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := notesOfC.ReplaceAllString(string(text), "")
		for _, m := range numberOfC.FindAllStringSubmatch(code, -1) {
			if n, err := strconv.ParseInt(strings.TrimRight(m[2], "uU"), 0, 64); err == nil {
				all[m[1]] = n
			}
		}
		for _, m := range numbersInC.FindAllStringSubmatch(code, -1) {
			next := int64(0)
			for one := range strings.SplitSeq(m[1], ",") {
				name, value, given := strings.Cut(one, "=")
				if given {
					n, err := strconv.ParseInt(strings.TrimSpace(value), 0, 64)
					if err != nil {
						continue // another name of one
					}
					next = n
				}
				all[strings.TrimSpace(name)] = next
				next++
			}
		}
	}
	return all
}
