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

// A rank that stands: a goroutine of each rank says every alive that it lives, from the end of Open to its account. A
// rank that was not hit by the fault and says nothing for stands shows what its OS threads do (/proc). If some want to
// run and the kernel has run none of them for a second, the machine has starved it; else it shows where its goroutines
// are (SIGQUIT, which ends it), and the round is wrong.
const (
	alive  = 250 * time.Millisecond
	stands = 20 * time.Second

	starving = 10 * time.Millisecond // of processor time, in a second
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
				if v.heard.IsZero() && other.joined {
					v.heard = time.Now()
				}
			}
			silent := v.account == nil && !v.heard.IsZero() && time.Since(v.heard) > limit && !v.stands && !(rank == r.plan.Victim && !r.plan.Kind.harmless())
			v.stands = v.stands || silent
			r.mu.Unlock()
			pid := r.job.PID(rank)
			if !silent || pid <= 0 {
				continue
			}
			before, ran, wanting := threads(pid)
			time.Sleep(time.Second)
			after, then, _ := threads(pid)
			fmt.Fprint(shout{v}, before+"a second later:\n"+after+"of the machine: "+machineLoad())
			if wanting > 0 && then-ran < starving {
				r.mu.Lock()
				r.starved = fmt.Sprintf("rank %d said nothing for %v; %d of its threads wanted to run, and ran for %v in a second", rank, limit, wanting, then-ran)
				r.mu.Unlock()
				continue
			}
			r.wrong(fmt.Sprintf("rank %d stands: it has said nothing for %v", rank, limit))
			_ = syscall.Kill(pid, syscall.SIGQUIT)
		}
	}
}

// threads tells what the OS threads of a process do: state, processor, nice, times in ticks, processors allowed, where
// it waits in the kernel, switches. It also sums up how long all have run, and how many are running or want to.
func threads(pid int) (text string, ran time.Duration, wanting int) {
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
		var ns int64
		_, _ = fmt.Sscan(read("schedstat"), &ns)
		if ran += time.Duration(ns); fields[0] == "R" {
			wanting++
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
	return b.String(), ran, wanting
}

// machineLoad tells how many processes want to run.
func machineLoad() string {
	load, _ := os.ReadFile("/proc/loadavg")
	pressure, _ := os.ReadFile("/proc/pressure/cpu")
	return string(load) + string(pressure)
}
