package sched

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/pm2-go/pm2/sched/direct"
)

// isDirect says that threads are switched straight from stack to stack, on bound OS threads.
// Else this is the portable mode: threads are goroutines that the Go scheduler switches, one
// at a time for each VP, on OS threads that are not bound; all else is the same. Written once,
// before the first scheduler starts.
var isDirect bool

var setUp sync.Once

func chooseMode() {
	isDirect = direct.Supported()
	fenced = !isDirect || !hasMembarrier()
	if !isDirect && !direct.Chosen {
		fmt.Fprintf(os.Stderr, "marcel: on %s %s/%s threads are switched by the Go scheduler and not bound to CPUs (portable mode)\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	}
}
