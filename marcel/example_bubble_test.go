package marcel_test

import (
	"context"
	"fmt"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// Two bubbles that share nothing, each on a NUMA node of its own.
func ExampleNewBubble() {
	m, err := topo.Synthetic("numa:2 core:2 pu:1")
	if err != nil {
		panic(err)
	}
	s, err := sched.New(sched.Config{Topology: m})
	if err != nil {
		panic(err)
	}
	all := marcel.NewBubbleOn(s, marcel.Spread{})
	for range 2 {
		b := marcel.NewBubbleOn(s, nil)
		_ = all.InsertBubble(b)
		for range 3 {
			s.Spawn(marcel.Attr{Bubble: b}, func() { marcel.Yield() })
		}
	}
	_ = all.Wake()
	for _, e := range all.Entities() {
		fmt.Println("simulated:", e.Item().Kind, e.Item().Index)
	}
	_ = all.Join()
	_ = s.Stop(context.Background())
	// Output:
	// simulated: NUMA 0
	// simulated: NUMA 1
}
