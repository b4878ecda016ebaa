package hooks_test

import (
	"fmt"

	"github.com/pm2-go/pm2/hooks"
)

// A poller that has something to do twice.
func Example() {
	var set hooks.Set // a scheduler has one: s.Hooks()
	looks := 0
	h, err := set.Register(hooks.Idle, 10, "poller", func(vp int) hooks.Verdict {
		if looks++; looks < 3 {
			return hooks.Busy // something is pending: fire again at once
		}
		return hooks.Quiet // nothing is pending: VP vp may sleep
	})
	for set.Fire(hooks.Idle, 0) == hooks.Busy { // what the scheduler does on an idle VP
	}
	fmt.Println(err, looks)
	h.Unregister()
	// Output: <nil> 3
}

// A poller that remembers of each VP how often it has looked there.
func ExamplePerVP() {
	type looks struct{ n int }
	var set hooks.Set // a scheduler's: s.Hooks()
	states := hooks.NewPerVP[looks](2)
	h, err := set.Register(hooks.Idle, 10, "poller", states.Hook(func(vp int, l *looks) hooks.Verdict {
		l.n++
		if l.n < 3 {
			return hooks.Busy // something is pending: poll again
		}
		return hooks.Quiet
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Unregister()
	for set.Fire(hooks.Idle, 1) == hooks.Busy { // what the scheduler does on an idle VP
	}
	fmt.Println(states.At(0).n, states.At(1).n)
	// Output: 0 3
}
