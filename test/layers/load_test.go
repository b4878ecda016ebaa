package layers

import (
	"sync"
	"testing"
)

// library has the packages whose types several tests look at.
var library = sync.OnceValues(func() ([]*loaded, error) {
	return load("../..", "./asm", "./hooks", "./sched/...", "./tasklet", "./marcel/...", "./pioman/...", "./nmad/...")
})

// loadLibrary compiles the library, once.
func loadLibrary(t *testing.T) []*loaded {
	t.Helper()
	packages, err := library()
	if err != nil {
		t.Fatal(err)
	}
	return packages
}
