package setting

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	as := func(v any, err error) any {
		if err != nil {
			return err
		}
		return v
	}
	boolean := func(text string) any { return as(Read("X", text, Bool)) }
	number := func(text string) any { return as(Read("X", text, Number)) }
	bytes := func(text string) any { return as(Read("X", text, Bytes)) }
	duration := func(text string) any { return as(Read("X", text, Duration)) }
	descriptor := func(text string) any { return as(Read("X", text, Descriptor)) }
	bad := errors.New("")
	for _, c := range []struct {
		read func(string) any
		text string
		want any
	}{
		{boolean, "", false}, {boolean, "0", false}, {boolean, "off", false}, {boolean, "No", false}, {boolean, "FALSE", false},
		{boolean, "1", true}, {boolean, "on", true}, {boolean, "yes", true}, {boolean, "True", true},
		{boolean, "2", bad}, {boolean, "perhaps", bad}, {boolean, " 1", bad},
		{number, "", 0}, {number, "-3", -3}, {number, "1.5", bad}, {number, "99999999999999999999", bad},
		{bytes, "", 0}, {bytes, "4096", 4096}, {bytes, "0", bad}, {bytes, "-1", bad}, {bytes, "4k", bad},
		{duration, "", time.Duration(0)}, {duration, "0", time.Duration(0)}, {duration, "5s", 5 * time.Second}, {duration, "5", bad},
		{descriptor, "3", 3}, {descriptor, "2", bad}, {descriptor, "-1", bad}, {descriptor, "x", bad}, {descriptor, "99999999999", bad},
	} {
		switch got := c.read(c.text).(type) {
		case error:
			if text := got.Error(); c.want != bad || !strings.HasPrefix(text, "X=\""+c.text+"\": give ") || strings.Contains(text, "\n") {
				t.Errorf("%q: %v, want %v", c.text, got, c.want)
			}
		default:
			if got != c.want {
				t.Errorf("%q: %v, want %v", c.text, got, c.want)
			}
		}
	}
	for text, want := range map[string]bool{"": false, "0": false, "1": true} {
		t.Setenv(SharedCPUs, text)
		if got, err := Shared(); got != want || err != nil {
			t.Errorf("%s=%q: %v, %v", SharedCPUs, text, got, err)
		}
	}
}
