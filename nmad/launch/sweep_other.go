//go:build !linux && unix

package launch

import (
	"os"
	"time"
)

// ownProgram is this program.
func ownProgram() (string, error) { return os.Executable() }

// nameProcess has nothing to do: here a process is called what its first argument says.
func nameProcess(string) {}

// sweep finds nothing: this system shows no environment of others.
func sweep(string, time.Duration) {}
