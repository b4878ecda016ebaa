package main

import (
	"fmt"
	"os"
	"runtime/pprof"
)

// profileVariable names the files for CPU profiles of this process and its second one: each writes
// the one with its process number after the name. default.pgo is made of such
// (docs/decisions/profile-guided.md).
const profileVariable = "DEMO_CPUPROFILE"

// profiled calls f, which returns the exit status, under the CPU profiler if that is asked for.
func profiled(f func() int) int {
	name := os.Getenv(profileVariable)
	if name == "" {
		return f()
	}
	file, err := os.Create(fmt.Sprintf("%s.%d", name, os.Getpid()))
	if err != nil {
		return fail(fmt.Errorf("%s: %w", profileVariable, err))
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return fail(fmt.Errorf("%s: %w", profileVariable, err))
	}
	status := f()
	pprof.StopCPUProfile()
	if err := file.Close(); err != nil {
		return fail(fmt.Errorf("%s: %w", profileVariable, err))
	}
	return status
}
