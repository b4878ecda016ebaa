package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/pm2-go/pm2/sched/topo"
)

// exchange is one side of a row of which the sides are runs of demo pingpong over shm, two processes each.
type exchange struct {
	flags  string   // of demo pingpong
	env    []string // besides this process's
	oneCPU bool     // both processes have the first CPU of the row, and no other
}

const (
	callersPrefix    = "callers: "
	callersExchanges = 1000 // of a run
)

// callerRows vary what users vary, one thing at a time, beside a marcel thread that sends from and receives into the same buffers,
// which begin a page, of sizes that are powers of two.
func callerRows() (rows []Experiment) {
	add := func(name, best string, ours, peer exchange) {
		rows = append(rows, Experiment{
			Name: callersPrefix + name, PeerName: best, Crosses: true, Heavy: true,
			Exchange: &ours, PeerExchange: &peer, Least: callersExchanges, Most: callersExchanges,
		})
	}
	for _, size := range []string{"8", "4K", "64K"} {
		sizes := "--sizes " + size
		thread := exchange{flags: sizes}
		beside := func(name, flags string, env ...string) {
			add(name+", "+size, "a thread, at its best", exchange{flags: sizes + " " + flags, env: env}, thread)
		}
		beside("goroutine", "--caller goroutine")
		beside("locked goroutine", "--caller locked")
		beside("goroutine, no engine", "--engine none")
		beside("call from C", "--caller c")
		beside("requests made anew", "--vary plain")
		beside("fresh buffers", "--vary fresh")
		beside("GOMAXPROCS 1", "--caller goroutine", "GOMAXPROCS=1")
		beside("GOMAXPROCS 8", "--caller goroutine", "GOMAXPROCS=8")
		beside("goroutine beside busy ones", "--caller goroutine --vary busy")
		beside("thread beside busy goroutines", "--vary busy")
	}
	for _, offset := range []string{"1", "16", "48", "0:1", "1:0"} {
		for _, size := range []string{"4K", "16K", "1M"} {
			add("offset "+offset+", "+size, "the same at the begin of a page", exchange{flags: "--sizes " + size + " --offset " + offset}, exchange{flags: "--sizes " + size})
		}
	}
	for _, k := range []int{1 << 10, 4 << 10, 8 << 10, 64 << 10, 256 << 10} {
		for _, size := range []int{k + 1, k + k/2} {
			beside := size / k * k // the power of two that is nearer
			if size > k+1 {
				beside = 2 * k
			}
			add(fmt.Sprintf("%d bytes", size), fmt.Sprintf("%d bytes", beside), exchange{flags: "--sizes " + strconv.Itoa(size)}, exchange{flags: "--sizes " + strconv.Itoa(beside)})
		}
	}
	for _, size := range []string{"8", "4K", "64K"} {
		add("two ranks on a core, "+size, "a core for each", exchange{flags: "--sizes " + size, oneCPU: true}, exchange{flags: "--sizes " + size})
	}
	return rows
}

// Commands are the arguments of demo that the two sides of a row run, if they are such; n is how many exchanges.
func (x *Experiment) Commands(n int) (all [][]string) {
	for _, e := range []*exchange{x.Exchange, x.PeerExchange} {
		if e != nil {
			all = append(all, e.arguments(n))
		}
	}
	return all
}

// Group is the name by which a row is mentioned that is not measured: of many alike, that of all.
func (x *Experiment) Group() string {
	if x.Exchange != nil {
		return strings.TrimSuffix(callersPrefix, ": ")
	}
	return x.Name
}

func (e *exchange) arguments(n int) []string {
	return append([]string{"pingpong", "--format", "json", "--iters", strconv.Itoa(n), "--warmup", strconv.Itoa(n / 10)}, strings.Fields(e.flags)...)
}

// perform runs it with n exchanges of one size, and returns the median of a message, one way.
func (e *exchange) perform(n int, cpus []int) (s sample, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, fmt.Errorf("find this program: %w", err)
	}
	args := e.arguments(n)
	cmd := exec.Command(self, args...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), e.env...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	allowed := topo.CPUs(cpus...)
	if e.oneCPU {
		allowed = topo.CPUs(cpus[0])
	}
	var out []byte
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // and ends locked: what it starts inherits its CPUs
		_ = allowed.Bind(0)    // where that is forbidden the processes run where they may
		out, err = cmd.Output()
	}()
	<-ended
	if err != nil {
		return s, fmt.Errorf("run demo %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(complaints.String()))
	}
	var result struct {
		Rows []struct {
			Median float64 `json:"median_ns"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(out, &result); err != nil || len(result.Rows) != 1 || result.Rows[0].Median <= 0 {
		return s, errors.Join(fmt.Errorf("demo %s said %d rows", strings.Join(args, " "), len(result.Rows)), err)
	}
	return sample{ns: result.Rows[0].Median}, nil
}
