package effort

import (
	"flag"
	"testing"
	"time"
)

// set gives flags values for a test.
func set(t *testing.T, flags map[string]string) {
	t.Helper()
	for name, value := range flags {
		before := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set(name, before) })
	}
}

func TestOf(t *testing.T) {
	for _, test := range []struct {
		short, long, half string
		rounds            int
		last              time.Duration
	}{
		{"true", "false", "false", 100, 50 * time.Millisecond},
		{"false", "false", "false", 200, 100 * time.Millisecond},
		{"false", "true", "false", 2000, time.Second},
		{"false", "true", "true", 1000, time.Second / 2},
		{"false", "false", "true", 200, 100 * time.Millisecond}, // -half says nothing without -long
		{"true", "true", "false", 2000, time.Second},            // what was asked for by name
	} {
		set(t, map[string]string{"test.short": test.short, "long": test.long, "half": test.half})
		if n, d := Of(2000), Of(time.Second); n != test.rounds/Slower || d != test.last/Slower {
			t.Errorf("-short=%s -long=%s -half=%s: %d rounds and %v; want %d and %v", test.short, test.long, test.half, n, d, test.rounds/Slower, test.last/Slower)
		}
		if n := Of(3); n < 1 {
			t.Errorf("-short=%s -long=%s -half=%s: %d of 3", test.short, test.long, test.half, n)
		}
	}
}
