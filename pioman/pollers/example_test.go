package pollers_test

import (
	"fmt"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/pioman/pollers"
)

func Example() {
	pool, err := pollers.Start(pollers.Config{Warn: func(error) {}}) // a poller for each usable CPU
	if err != nil {
		panic(err)
	}
	looked := make(chan int, 1)
	h, err := pool.Hooks().Register(hooks.Idle, 10, "look", func(vp int) hooks.Verdict {
		select {
		case looked <- vp:
		default:
		}
		return hooks.Quiet // nothing is pending: the poller may sleep
	})
	pool.Kick(0) // something is there: a poller is to look
	fmt.Println(<-looked >= 0, err)
	h.Unregister()
	pool.Stop()
	// Output: true <nil>
}
