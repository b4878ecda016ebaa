package pioman_test

import (
	"fmt"

	"github.com/pm2-go/pm2/pioman"
)

// A task that is polled three times, and its waiter.
func Example() {
	stop, err := pioman.Enable() // from here on requests progress while threads compute
	defer stop()
	var task pioman.Task // embedded in a request, as is
	var done pioman.Completion
	rounds := 0
	task.Init("three rounds", func(*pioman.Task) pioman.Status {
		if rounds++; rounds < 3 {
			return pioman.Again // poll it again
		}
		return pioman.Done
	}, pioman.Repeat)
	task.Notify(&done, 1)
	pioman.Default().AddPending() // one more request is pending, until RemovePending
	fmt.Println(err, pioman.Default().Submit(&task), done.Wait(nil, 1), rounds)
	pioman.Default().RemovePending()
	// Output: <nil> <nil> <nil> 3
}
