package mpi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// TestHostsOfProcesses: of the ranks of 4 hosts, a process each, only the leaders send messages to other hosts, in a
// barrier and in an allreduce of 8 bytes 2 each, as 4 ranks do in 2 rounds: to another leader in each, of no byte or
// of 8. Within a host there are no messages but those of nothing that wake a sleeper, which are logged. The same
// ranks on one host send no others at all. It logs what operations take, too. 16 ranks; with -long 128.
func TestHostsOfProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the launcher, and starts many processes")
	}
	each := 4
	if effort.Long() {
		each = 32
	}
	d := json.NewDecoder(strings.NewReader(inMachine(t, "counted", 3*time.Minute, [2]int{4, each}, [2]int{1, 4 * each})))
	for _, job := range []struct {
		hosts, ranks int
		sends        int64 // of a leader
	}{{4, each, 2}, {1, 4 * each, 0}} {
		var f finding
		if err := d.Decode(&f); err != nil || len(f.Accounts) != 4*each {
			t.Fatalf("%d ranks, %v", len(f.Accounts), err)
		}
		var wakes [2]int64
		for rank, a := range f.Accounts {
			if want := int64(rank / job.ranks * job.ranks); a.Leader != want {
				t.Errorf("rank %d is on the host of rank %d, not of %d", rank, a.Leader, want)
			}
			for i, y := range []tally{a.Barrier, a.Allreduce} {
				sends := job.sends
				if rank%job.ranks != 0 {
					sends = 0
				}
				want := tally{Least: sends, Most: sends, Received: sends * rounds, Bytes: int64(i) * 8 * sends * rounds, Wakes: y.Wakes}
				if y != want {
					t.Errorf("%d hosts, rank %d, %s: %+v, not %+v", job.hosts, rank, []string{"barrier", "allreduce"}[i], y, want)
				}
				wakes[i] += y.Wakes
			}
			if a.Immediate.Near == 0 {
				t.Errorf("%d hosts, rank %d: it counts no message of an operation that goes by messages", job.hosts, rank)
			}
		}
		n := float64(rounds)
		t.Logf("hosts: %d, ranks on each: %d; barrier %s, allreduce of 8 bytes %s, by messages of all %s; wake-ups of sleepers in a barrier and in an allreduce, of all ranks together: %.1f and %.1f",
			job.hosts, job.ranks, took(f.Barrier), took(f.Allreduce), took(f.Immediate), float64(wakes[0])/n, float64(wakes[1])/n)
		t.Log(f.Way)
	}
}

// took is the median of samples, and the least and the largest.
func took(us []float64) string {
	slices.Sort(us)
	return fmt.Sprintf("%.0f us (%.0f to %.0f)", us[len(us)/2], us[0], us[len(us)-1])
}
