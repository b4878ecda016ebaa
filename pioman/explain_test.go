package pioman

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/topo"
)

// The explanation says what is the case, in text and as JSON.
func TestExplain(t *testing.T) {
	machine, err := topo.Synthetic("package:2 core:2 pu:1")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PIOM_GRANULARITY", "33us")
	p, err := ParamsFromEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	p.Points &^= AtSwitch
	p.BlockingDelay = 0
	e := engine(t, Config{Name: "explained", Params: &p})
	if x := e.Explain(); x.Hooked || len(x.Queues) != 1 || !strings.HasPrefix(x.Points[idlePoint].Why, "off: ") || strings.HasPrefix(x.Points[4].Why, "off") {
		t.Errorf("explicit: %+v", x)
	}
	s := newPlaced(4, machine)
	attach(t, e, s)
	e.AddPending()
	defer e.RemovePending()
	s.set.Fire(hooks.Idle, 1)
	s.set.Fire(hooks.Timer, 2)
	x := e.Explain()
	if !x.Hooked || x.Pending != 1 || len(x.VPs) != 4 || len(x.Queues) != 7 || x.Polls != 2 || x.Asleep != "nothing" {
		t.Errorf("%+v", x)
	}
	text := x.Text()
	for _, part := range []string{
		"engine explained: 1 requests pending", "switch    off: the parameter points",
		"VP 1   PU 1", "it was idle first", "Core 3 > Package 1 > machine",
		"33µs                       environment", "idle,timer,explicit        program", "2 polls at hooks, 0 found something; 0 sleeps",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the text does not say %q:\n%s", part, text)
		}
	}
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	var back Explanation
	if err := json.Unmarshal(b, &back); err != nil || back.Text() != text {
		t.Errorf("not the same after JSON: %v", err)
	}
	p.Dedicated = 1
	ded := engine(t, Config{Params: &p})
	if _, err := ded.Attach(newByHand(2)); err == nil {
		t.Error("a scheduler that cannot spare a VP has dedicated one")
	}
}
