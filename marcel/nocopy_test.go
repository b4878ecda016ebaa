package marcel_test

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/marcel"
)

// go vet complains when one of these is copied.
func TestVetFindsCopies(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	const file = "testdata/copies/copies.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(goTool, "vet", "./testdata/copies").CombinedOutput()
	if err == nil {
		t.Errorf("go vet finds nothing wrong: %s", out)
	}
	found := 0
	for i, line := range strings.Split(string(source), "\n") {
		if !strings.HasPrefix(line, "\t_ ") {
			continue
		}
		found++
		if !strings.Contains(string(out), fmt.Sprintf("copies.go:%d:", i+1)) {
			t.Errorf("go vet lets %q pass", line)
		}
	}
	if found == 0 {
		t.Errorf("%s copies nothing", file)
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}

// The documentation says how much memory each takes.
func TestSizes(t *testing.T) {
	if strconv.IntSize != 64 {
		t.Skip("the sizes are those of 64-bit machines")
	}
	for name, x := range map[string][2]uintptr{
		"Semaphore":      {reflect.TypeFor[marcel.Semaphore]().Size(), 32},
		"Mutex":          {reflect.TypeFor[marcel.Mutex]().Size(), 32},
		"RecursiveMutex": {reflect.TypeFor[marcel.RecursiveMutex]().Size(), 48},
		"RWMutex":        {reflect.TypeFor[marcel.RWMutex]().Size(), 48},
		"SpinLock":       {reflect.TypeFor[marcel.SpinLock]().Size(), 4},
		"Cond":           {reflect.TypeFor[marcel.Cond]().Size(), 32},
		"Barrier":        {reflect.TypeFor[marcel.Barrier]().Size(), 48},
		"Once":           {reflect.TypeFor[marcel.Once]().Size(), 40},
		"Latch":          {reflect.TypeFor[marcel.Latch]().Size(), 32},
		"WaitGroup":      {reflect.TypeFor[marcel.WaitGroup]().Size(), 32},
		"Futex":          {reflect.TypeFor[marcel.Futex]().Size(), 24},
		"Group":          {reflect.TypeFor[marcel.Group]().Size(), 72},
	} {
		if x[0] != x[1] {
			t.Errorf("%s takes %d bytes, %d are documented", name, x[0], x[1])
		}
	}
}
