package nmad

import (
	"reflect"
	"testing"
)

// counters calls f for each counter in v, with its name.
func counters(v reflect.Value, name string, f func(name string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			counters(v.Field(i), name+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Array:
		for i := range v.Len() {
			counters(v.Index(i), name, f)
		}
	default:
		f(name, v)
	}
}

// A counter that add forgets is missing in Session.Stats.
func TestEveryCounterIsAdded(t *testing.T) {
	var sum, gate Stats
	counters(reflect.ValueOf(&gate).Elem(), "", func(_ string, v reflect.Value) { v.SetUint(21) })
	sum.add(gate)
	sum.add(gate)
	counters(reflect.ValueOf(sum), "Stats", func(name string, v reflect.Value) {
		want := uint64(42)
		if name == "Stats.UnexpectedPeak" { // of one gate
			want = 21
		}
		if v.Uint() != want {
			t.Errorf("21 added twice: %s is %d, want %d", name, v.Uint(), want)
		}
	})
}
