package sched

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/pm2-go/pm2/sched/direct"
)

// The mode is chosen when the program is built: see isDirect. Where that is a wish (-tags
// portable) nothing is said; where it follows from the platform, the first scheduler says so.

var setUp sync.Once

func chooseMode() {
	fenced = !hasMembarrier()
	if !isDirect && !direct.Chosen {
		fmt.Fprintf(os.Stderr, "sched: portable mode on %s %s/%s: the Go scheduler switches threads, on OS threads that are not bound to CPUs; "+
			"the direct switch is for Go 1.26 and 1.27 on linux/amd64, and on linux/arm64 without cgo\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	}
}

// errRuntime is returned where threads cannot be switched though the release of Go is known.
var errRuntime = errors.New("sched: this Go runtime keeps things elsewhere than the release that it says it is: build with -tags portable")
