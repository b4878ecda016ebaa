package effort

import (
	"flag"
	"strconv"
)

// Together has up to n parallel tests of a test binary run at once, where the testing package runs one for each
// processor. For packages whose parallel tests wait, for silences, processes and sleeps, more than they compute.
// TestMain calls it before it runs the tests; the flag -parallel overrides it.
func Together(n int) {
	if !flag.Parsed() {
		_ = flag.Set("test.parallel", strconv.Itoa(n))
	}
}
