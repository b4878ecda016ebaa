package tasklet_test

import (
	"context"
	"fmt"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/tasklet"
)

// A tasklet runs soon after it was scheduled.
func Example() {
	s := sched.Default()
	v, err := tasklet.Attach(s) // once: the hooks of s run what is scheduled
	done := make(chan bool, 1)
	t := tasklet.New(v, func() { done <- true }) // or Init, on a tasklet that is embedded
	fmt.Println(err, t.Schedule(), <-done)       // from anywhere, any number of times
	v.Detach()                                   // before s is stopped
	// Output: <nil> true true
}

// The reader notices events and leaves their handling to a tasklet; three events that come
// before it runs are one run.
func ExampleTasklet() {
	s, err := sched.New(sched.Config{VPs: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := tasklet.Attach(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	events := 0
	handle := tasklet.New(v, func() {
		fmt.Println("events:", events)
		events = 0
	})
	reader := s.Spawn(sched.Attr{NonPreemptible: true}, func() {
		handle.Disable() // the timer could be faster
		for range 3 {
			events++
			handle.Schedule()
		}
		handle.Enable()
		sched.Yield() // it runs here at the latest
	})
	if err := reader.Join(); err != nil {
		fmt.Println(err)
	}
	fmt.Println("over:", handle.Kill())
	v.Detach() // before Stop
	if err := s.Stop(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// events: 3
	// over: true
}

// What has to happen first is of high priority.
func ExampleTasklet_InitHigh() {
	s, err := sched.New(sched.Config{VPs: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := tasklet.Attach(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	var last, first tasklet.Tasklet // embedded in something else, as a rule
	if err := last.Init(v, func() { fmt.Println("normal"); close(done) }); err != nil {
		fmt.Println(err)
	}
	if err := first.InitHigh(v, func() { fmt.Println("high"); last.ScheduleOn(1) }); err != nil {
		fmt.Println(err)
	}
	first.ScheduleOn(0)
	<-done
	v.Detach()
	if err := s.Stop(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// high
	// normal
}
