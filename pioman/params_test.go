package pioman

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func get(p *Params, name string) (text string, by Origin) {
	return table[rowOf(name)].get(p), p.origin(rowOf(name))
}

// An engine is made from defaults, environment, flags and program, in this order of
// strength, and every parameter says which it was.
func TestParamsSayWhereTheyComeFrom(t *testing.T) {
	env := map[string]string{"PIOM_BUSY_WAIT": "7", "PIOM_IDLE_DISTRIBUTION": "all", "PIOM_POINTS": "timer, idle"}
	p, err := paramsFrom(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Set("granularity", "2ms", FromFlag); err != nil {
		t.Fatal(err)
	}
	p.SpareLWPs = 0
	for _, c := range []struct {
		name, text string
		by         Origin
	}{
		{"busy-wait", "7µs", FromEnvironment},
		{"idle-distribution", "all", FromEnvironment},
		{"points", "idle,timer", FromEnvironment},
		{"granularity", "2ms", FromFlag},
		{"spare-lwps", "0", FromProgram},
		{"blocking-delay", "1ms", FromDefault},
	} {
		if text, by := get(&p, c.name); text != c.text || by != c.by {
			t.Errorf("%s is %q by %v, want %q by %v", c.name, text, by, c.text, c.by)
		}
	}
	if p.BusyWait != 7*time.Microsecond || !p.AllIdle || p.Points != AtIdle|AtTimer {
		t.Errorf("%+v", p)
	}
}

// Whatever a parameter says, Set takes it back.
func TestParamsAreTakenBack(t *testing.T) {
	if len(table) > maxParams {
		t.Fatalf("%d parameters, room for %d", len(table), maxParams)
	}
	p := DefaultParams()
	for _, row := range ParamTable() {
		if row.Meaning == "" || row.Values == "" || row.Default == "" || !strings.HasPrefix(row.Env, "PIOM_") {
			t.Errorf("row %+v is not complete", row)
		}
		if err := p.Set(row.Name, row.Default, FromProgram); err != nil {
			t.Error(err)
		}
		if text, by := get(&p, row.Name); text != row.Default || by != FromProgram {
			t.Errorf("%s: %q by %v", row.Name, text, by)
		}
	}
	if p.Check() != nil {
		t.Error(p.Check())
	}
}

// A value that is not allowed is refused with the variable, the value, and what is
// allowed, wherever it comes from, and the parameter is as before.
func TestWrongParamsAreRefused(t *testing.T) {
	wrong := map[string][]string{
		"flavour": {"hooks", "3"}, "progress": {"maybe", "2"}, "points": {"idle,never", "idle timer", ","}, "busy-wait": {"-1", "fast", "2h", "NaN", "Inf", "1e300", "-3us"},
		"granularity": {"-1us"}, "idle-granularity": {"x"}, "idle-distribution": {"some", "1"}, "timer-period": {"-5"},
		"spare-lwps": {"2", "-1", "one"}, "blocking-delay": {"soon"},
		"dedicated": {"-2", "65536", "last"},
	}
	for _, row := range ParamTable() {
		if len(wrong[row.Name]) == 0 {
			t.Errorf("nothing wrong is known of %s", row.Name)
		}
		for _, text := range wrong[row.Name] {
			p, err := paramsFrom(func(name string) string {
				if name == row.Env {
					return text
				}
				return ""
			})
			if !errors.Is(err, ErrParameter) {
				t.Fatalf("%s=%q: %v", row.Env, text, err)
			}
			for _, part := range []string{row.Env, text, row.Values} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if p != DefaultParams() {
				t.Errorf("%s=%q changed something", row.Env, text)
			}
			if err := p.Set(row.Name, text, FromFlag); err == nil || !strings.Contains(err.Error(), "--"+row.Name) {
				t.Errorf("--%s=%q: %v", row.Name, text, err)
			}
		}
	}
	p := DefaultParams()
	if err := p.Set("speed", "1", FromFlag); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	t.Setenv("PIOM_SPARE_LWPS", "7")
	e := engine(t, Config{})
	if _, err := e.Attach(newByHand(1)); !errors.Is(err, ErrParameter) || !strings.Contains(err.Error(), `PIOM_SPARE_LWPS="7"`) {
		t.Errorf("attached with a wrong environment: %v", err)
	}
	p.SpareLWPs = -1
	e = engine(t, Config{Params: &p})
	if _, err := e.Attach(newByHand(1)); !errors.Is(err, ErrParameter) {
		t.Errorf("attached with wrong parameters: %v", err)
	}
}

// The documentation lists the parameters of the table, all of them, and nothing else.
func TestDocumentationListsTheParameters(t *testing.T) {
	b, err := os.ReadFile("../docs/parameters.md")
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, row := range ParamTable() {
		want += "| `" + row.Env + "` | " + row.Name + " | " + row.Values + " | " + row.Default + " | " + row.Meaning + " |\n"
	}
	if text := string(b); !strings.Contains(text, want) || strings.Count(text, "\n| `") != len(ParamTable()) {
		t.Errorf("docs/parameters.md does not have this table, or has more:\n%s", want)
	}
}
