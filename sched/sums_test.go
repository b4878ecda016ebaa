package sched

import (
	"reflect"
	"testing"
	"time"
)

// identity are the fields of VPStats that name it, and are no sums.
var identity = map[string]bool{"VP": true, "CPU": true, "State": true}

// moment are the fields of VPStats that Since leaves as they are.
var moment = map[string]bool{"Ready": true, "Away": true, "Runners": true, "Seized": true}

// fill sets every number of v to n.
func fill(v reflect.Value, n uint64) {
	switch {
	case v.CanUint():
		v.SetUint(n)
	case v.CanInt():
		v.SetInt(int64(n))
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	}
}

// filled returns a VP whose counters are all n.
func filled(n uint64) (v VPStats) {
	fill(reflect.ValueOf(&v).Elem(), n)
	return v
}

// compare reports each field of got, but those in skip, that differs from want's.
func compare(t *testing.T, what string, got, want VPStats, skip ...map[string]bool) {
	t.Helper()
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
fields:
	for i := range g.NumField() {
		name := g.Type().Field(i).Name
		for _, s := range skip {
			if s[name] {
				continue fields
			}
		}
		if !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			t.Errorf("%s: field %s is %v, want %v", what, name, g.Field(i), w.Field(i))
		}
	}
}

// A field that each or Add forgets is missing in totals and differences.
func TestEveryFieldIsAddedAndSubtracted(t *testing.T) {
	sum, w := filled(30), filled(12)
	sum.add(&w)
	compare(t, "30 and 12 added", sum, filled(42), identity)

	now := Stats{Elapsed: time.Hour, VPs: []VPStats{filled(42)}, Total: filled(42), Ticks: 42}
	d := now.Since(Stats{Elapsed: time.Minute, VPs: []VPStats{filled(12)}, Total: filled(12), Ticks: 12})
	compare(t, "12 subtracted from 42", d.VPs[0], filled(30), identity, moment)
	compare(t, "12 subtracted from 42, in total", d.Total, filled(30), identity, moment)
	for name := range moment {
		if got := reflect.ValueOf(d.Total).FieldByName(name).Int(); got != 42 {
			t.Errorf("Since has changed %s, which is of the moment, from 42 to %d", name, got)
		}
	}
	if d.Elapsed != 59*time.Minute || d.Ticks != 30 {
		t.Errorf("since a minute: elapsed %v, ticks %d, want 59m and 30", d.Elapsed, d.Ticks)
	}
}
