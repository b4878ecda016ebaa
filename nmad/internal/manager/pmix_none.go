//go:build !(pmix && linux && cgo)

package manager

import (
	"context"
	"errors"
)

// openPMIx fails: this build is without libpmix. docs/decisions/process-managers.md says how to build with it.
func openPMIx(context.Context) (Manager, error) {
	return nil, &Error{"PMIx (PMIX_NAMESPACE)", "connect", errors.New("this program was built without: " +
		"build it with cgo and -tags pmix, or start it by mpiexec.hydra, by srun --mpi=pmi2, or, below this manager, by demo run")}
}
