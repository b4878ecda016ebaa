package marcel_test

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// C libraries and system calls that keep something per OS thread.
func ExampleAttr_pinned() {
	t := marcel.SpawnWith(marcel.Attr{Pinned: true}, func() {
		here := unix.Gettid()
		marcel.Yield()
		marcel.Sleep(time.Microsecond)
		fmt.Println("on the same OS thread:", unix.Gettid() == here)
	})
	fmt.Println(t.Join())
	// Output:
	// on the same OS thread: true
	// <nil>
}
