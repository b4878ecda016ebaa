package stress

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// growth watches what the process takes from one round of the soak to the next.
type growth struct {
	rounds        int
	memory, tasks int // now: MiB resident, OS threads
	first         struct{ memory, tasks int }
}

const warmUp = 20 // rounds, in which the Go runtime grows to its size

func (g growth) String() string {
	return fmt.Sprintf("%d MiB, %d OS threads; at most %d and %d in the first %d rounds", g.memory, g.tasks, g.first.memory, g.first.tasks, min(g.rounds, warmUp))
}

// check fails the test if the process has grown beyond what its first rounds took. The
// Go runtime keeps what it once had (OS threads, descriptors of goroutines), so the
// bounds leave room for a crowd that was larger by chance.
func (g *growth) check(t testing.TB) {
	t.Helper()
	debug.FreeOSMemory()
	g.rounds++
	g.memory, g.tasks = resident(t), len(osThreads())
	if g.rounds <= warmUp {
		g.first.memory, g.first.tasks = max(g.first.memory, g.memory), max(g.first.tasks, g.tasks)
		return
	}
	if !underRace && g.memory > 2*g.first.memory+32 || g.tasks > 2*g.first.tasks+32 {
		t.Errorf("the process grows from round to round: %v", g)
	}
}

// resident returns how many MiB of the process are in memory.
func resident(t testing.TB) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize() >> 20
}
