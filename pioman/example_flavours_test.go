package pioman_test

import (
	"fmt"

	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/pioman/pollers"
)

// A program of plain goroutines: threads of the engine's own poll while it computes, and
// marcel's scheduler is not started.
func ExampleEngine_AttachThreads() {
	e := pioman.New(pioman.Config{Name: "mine"})
	defer e.Close()
	stop, err := e.AttachThreads(pollers.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	var task pioman.Task
	var done pioman.Completion
	polls := 0
	task.Init("three polls", func(*pioman.Task) pioman.Status {
		if polls++; polls < 3 {
			return pioman.Again
		}
		return pioman.Done
	}, pioman.Repeat)
	task.Notify(&done, 1)
	e.Need() // one request pending: the threads poll
	if err := e.Submit(&task); err != nil {
		fmt.Println(err)
	}
	// compute ...
	err = done.Wait(e, 1)
	e.Done()
	fmt.Println(polls, err)
	// Output: 3 <nil>
}

// The user chooses: PIOM_FLAVOUR=threads in the environment, or a name.
func ExampleParseFlavour() {
	f, err := pioman.ParseFlavour("none")
	if err != nil {
		fmt.Println(err)
		return
	}
	e := pioman.New(pioman.Config{})
	defer e.Close()
	stop, err := e.Start(f) // only the waiter polls
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	_, err = pioman.ParseFlavour("fibers")
	fmt.Println(f, err)
	// Output: none parameter not allowed: flavour "fibers": give one of marcel, threads, none
}
