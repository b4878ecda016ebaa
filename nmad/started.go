package nmad

import (
	"os"

	"github.com/pm2-go/pm2/nmad/internal/manager"
)

// Start describes what has started this process, as far as its environment tells.
type Start struct {
	By      string   // "alone", "the launcher of pm2", "PMI 1.1", ...
	Managed bool     // a process manager, or Kubernetes: Join meets the others through it, or by a name
	Found   []string // the variables that say so, "NAME=value"; none says "alone"
	Lack    string   // what keeps Join from working, and what to do; "": nothing
}

// FindStart finds out what has started this process, from the environment alone.
func FindStart() Start {
	f := manager.Find(os.Getenv)
	return Start{f.Kind.String(), f.Kind == manager.PMI || f.Kind == manager.PMIx || f.Kind == manager.Indexed, f.By, f.Lack}
}
