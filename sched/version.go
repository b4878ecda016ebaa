package sched

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
)

// testedVersions lists the Go releases on which the stress test (test/stress)
// has run. The switch leans on behaviour of iter.Pull that its documentation
// does not promise, and a violation throws: no check at start could report it.
var testedVersions = []string{"go1.26"}

var versionOnce sync.Once

// checkVersion says, once, that this Go release is none of them.
func checkVersion() {
	versionOnce.Do(func() {
		v := runtime.Version()
		for _, t := range testedVersions {
			if v == t || strings.HasPrefix(v, t+".") || strings.HasPrefix(v, t+"-") {
				return
			}
		}
		fmt.Fprintf(os.Stderr, "marcel: not tested on %s (tested: %s): run go test ./test/stress first\n", v, strings.Join(testedVersions, ", "))
	})
}
