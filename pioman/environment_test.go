package pioman

import (
	"errors"
	"strings"
	"testing"
)

// What is misspelt is named, together with what was meant.
func TestUnknownVariablesAreNamed(t *testing.T) {
	var all []string
	for _, row := range ParamTable() {
		all = append(all, row.Env+"=whatever")
	}
	all = append(all, "PATH=/bin", "PM2_DRIVER=shm", "MY_PIOM_ROUND=1", "=", "PIOMAN=1")
	if err := checkEnvironment(all); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ name, meant string }{
		{"PIOM_BUSYWAIT", "PIOM_BUSY_WAIT"},
		{"PIOM_BUSY_WIAT", "PIOM_BUSY_WAIT"},
		{"PIOM_points", "PIOM_POINTS"},
		{"PIOM_POINT", "PIOM_POINTS"},
		{"PIOM_SPARE_LWP", "PIOM_SPARE_LWPS"},
		{"PIOM_IDLE_GRANULARTY", "PIOM_IDLE_GRANULARITY"},
		{"PIOM_NONSENSE", ""},
		{"PIOM_", ""},
	} {
		err := checkEnvironment(append(all, c.name+"=3", "PIOM_OTHERWISE=1"))
		if !errors.Is(err, ErrParameter) {
			t.Fatalf("%s: %v", c.name, err)
		}
		want := c.name
		if c.meant != "" {
			want += " (" + c.meant + "?)"
		}
		if text := err.Error(); !strings.Contains(strings.ReplaceAll(text, ": ", ", ")+",", " "+want+",") || !strings.Contains(text, "PIOM_OTHERWISE") || strings.Contains(text, "\n") {
			t.Errorf("%s: %q does not say %q", c.name, text, want)
		}
	}
	t.Setenv("PIOM_GRANULARITI", "1ms")
	if err := CheckEnvironment(); err == nil || !strings.Contains(err.Error(), "PIOM_GRANULARITI (PIOM_GRANULARITY?)") {
		t.Error(err)
	}
}
