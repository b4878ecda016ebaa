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
		short, long string
		rounds      int
		last        time.Duration
	}{
		{"true", "false", 100, 50 * time.Millisecond},
		{"false", "false", 200, 100 * time.Millisecond},
		{"false", "true", 2000, time.Second},
		{"true", "true", 2000, time.Second}, // what was asked for by name
	} {
		set(t, map[string]string{"test.short": test.short, "long": test.long})
		if n, d := Of(2000), Of(time.Second); n != test.rounds/Slower || d != test.last/Slower {
			t.Errorf("-short=%s -long=%s: %d rounds and %v; want %d and %v", test.short, test.long, n, d, test.rounds/Slower, test.last/Slower)
		}
		if n := Of(3); n < 1 {
			t.Errorf("-short=%s -long=%s: %d of 3", test.short, test.long, n)
		}
	}
}
