package pioman

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/topo"
)

// The finest level with queues is chosen by a parameter.
func TestEachBindingLevel(t *testing.T) {
	machine, err := topo.Synthetic("numa:4 l3:1 core:4 pu:1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		level string
		want  int
	}{{"all", 21}, {"pu", 21}, {"core", 21}, {"numa", 5}, {"package", 1}, {"machine", 1}} {
		e := with(t, func(p *Params) {
			if err := p.Set("binding-level", c.level, FromProgram); err != nil {
				t.Fatal(err)
			}
		})
		attach(t, e, placed{newByHand(16), machine})
		if n := len(e.queues()); n != c.want {
			t.Errorf("%s: %d queues, want %d", c.level, n, c.want)
		}
	}
}

// A processor whose turn to poll it is not polls what was put into its own queue.
func TestIdleProcessorPollsItsOwnQueue(t *testing.T) {
	machine, err := topo.Synthetic("core:4 pu:1")
	if err != nil {
		t.Fatal(err)
	}
	e := with(t, func(p *Params) { p.IdleVPs, p.surveyPeriod = FirstVP, time.Hour })
	s := placed{newByHand(4), machine}
	attach(t, e, s)
	var task Task
	var c Completion
	task.Init("near", func(*Task) Status { return Done }, OneShot)
	task.SetCPUs(machine.PUs()[2].CPUs)
	task.Notify(&c, 1)
	submit(t, e, &task)
	s.set.Fire(hooks.Idle, 3)
	if c.Test(1) {
		t.Fatal("VP 3 has polled the queue of VP 2")
	}
	s.set.Fire(hooks.Idle, 2)
	if !c.Test(1) {
		t.Error("VP 2 has not polled its own queue")
	}
}

// The explanation says from which queue the tasks of each node are polled.
func TestExplainMemory(t *testing.T) {
	for levels, want := range map[string]string{
		"numa:2 core:2 pu:1":           "[{NUMA 0 0-1 NUMA 0 [0 1]} {NUMA 1 2-3 NUMA 1 [2 3]}]",
		"numa:4 core:1 pu:1":           "[{NUMA 0 0 NUMA 0 [0]} {NUMA 1 1 NUMA 1 [1]} {NUMA 2 2 NUMA 2 [2]} {NUMA 3 3 NUMA 3 [3]}]",
		"numa:1 core:4 pu:1":           "[{NUMA 0 0-3 machine [0 1 2 3]}]",
		"numa:2 package:2 core:1 pu:1": "[{NUMA 0 0-1 NUMA 0 [0 1]} {NUMA 1 2-3 NUMA 1 [2 3]}]",
	} {
		machine, err := topo.Synthetic(levels)
		if err != nil {
			t.Fatal(err)
		}
		e := engine(t, Config{})
		if x := e.Explain().Memory; x != nil {
			t.Errorf("%s: of an engine that is not hooked: %v", levels, x)
		}
		attach(t, e, placed{newByHand(4), machine})
		x := e.Explain()
		if got := fmt.Sprint(x.Memory); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", levels, got, want)
		}
		if !strings.Contains(x.Text(), "polled from "+x.Memory[0].Queue+", by the VPs 0") {
			t.Errorf("%s: the text does not say it:\n%s", levels, x.Text())
		}
	}
}

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
	if x := e.Explain(); x.Hooked || len(x.Queues) != 1 || x.Points[idlePoint].On || !x.Points[4].On {
		t.Errorf("explicit: %+v", x)
	}
	s := placed{newByHand(4), machine}
	attach(t, e, s)
	if err := e.AddSource(newPipe(t)); err != nil {
		t.Fatal(err)
	}
	e.Need()
	defer e.Done()
	s.set.Fire(hooks.Idle, 1)
	s.set.Fire(hooks.Timer, 2)
	x := e.Explain()
	if !x.Hooked || x.Pending != 1 || len(x.VPs) != 4 || len(x.Queues) != 7 || x.Blocking.Sources != 1 {
		t.Errorf("%+v", x)
	}
	if x.VPs[1].Polls["idle"] == 0 || x.VPs[0].Polls["idle"] != 0 || x.VPs[2].Polls["timer"] != 1 {
		t.Errorf("VPs %+v", x.VPs)
	}
	text := x.Text()
	for _, part := range []string{
		"engine explained: 1 requests pending", "switch    off  switched off by the parameter points",
		"VP 1   PU 1", "it was idle first", "Core 3 > Package 1 > machine",
		"33µs                       environment", "idle,timer,explicit        program", "1 sources",
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
