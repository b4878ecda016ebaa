package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A rank that stands: a goroutine of each rank says every alive that it lives, from the end of Open to its account. A rank that was not hit
// by the fault and says nothing for stands shows what its OS threads do (/proc) and where its goroutines are (SIGQUIT, which ends it), and
// the round is wrong.
const (
	alive  = 250 * time.Millisecond
	stands = 20 * time.Second
)

// keepSaying says that this process lives until over is called.
func keepSaying() (over func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			say(line{What: "alive"})
			select {
			case <-done:
				return
			case <-time.After(alive):
			}
		}
	}()
	return func() { close(done); <-gone }
}

// watchStanding looks for ranks that stand, until the round is over.
func (r *round) watchStanding(over <-chan struct{}) {
	limit := max(*standing, 2*alive)
	for {
		select {
		case <-over:
			return
		case <-time.After(alive):
		}
		for rank, v := range r.ranks {
			r.mu.Lock()
			for _, other := range r.ranks { // the rank's clock begins when the job does
				if v.said.IsZero() && other.joined {
					v.said = time.Now()
				}
			}
			silent := v.account == nil && !v.said.IsZero() && time.Since(v.said) > limit && !v.stands && !(rank == r.plan.Victim && !r.plan.Kind.harmless())
			v.stands = v.stands || silent
			if silent {
				r.bad = append(r.bad, fmt.Sprintf("rank %d stands: it has said nothing for %v", rank, limit))
			}
			r.mu.Unlock()
			if pid := r.job.PID(rank); silent && pid > 0 {
				text := threads(pid)
				time.Sleep(time.Second)
				text += "a second later:\n" + threads(pid) + "of the machine: " + machineLoad()
				fmt.Fprint(shout{v}, text)
				_ = syscall.Kill(pid, syscall.SIGQUIT)
			}
		}
	}
}

// threads tells what the OS threads of a process do: state, processor, nice, times in ticks, processors allowed, where it waits in the kernel, switches.
func threads(pid int) string {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	var b strings.Builder
	for _, dir := range all {
		read := func(name string) string {
			text, _ := os.ReadFile(filepath.Join(dir, name))
			return string(bytes.TrimSpace(text))
		}
		stat := read("stat")
		fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
		if len(fields) < 37 {
			continue
		}
		fmt.Fprintf(&b, "thread %s: %s on %s, nice %s, user %s system %s, schedstat %s, in %s, call %s;", filepath.Base(dir), fields[0], fields[36], fields[16],
			fields[11], fields[12], read("schedstat"), read("wchan"), read("syscall"))
		for text := range strings.Lines(read("status")) {
			for _, name := range []string{"Cpus_allowed_list", "voluntary", "nonvoluntary", "SigPnd", "ShdPnd"} {
				if strings.HasPrefix(text, name) {
					b.WriteString(" " + strings.Join(strings.Fields(text), " "))
				}
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// machineLoad tells how many processes want to run.
func machineLoad() string {
	load, _ := os.ReadFile("/proc/loadavg")
	pressure, _ := os.ReadFile("/proc/pressure/cpu")
	return string(load) + string(pressure)
}
