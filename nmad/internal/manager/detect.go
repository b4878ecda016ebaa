package manager

import (
	"context"
	"fmt"
	"os"
	"strconv"
)

// Kind says what has started a process.
type Kind uint8

// The kinds of what can start a process.
const (
	Alone   Kind = iota // neither a launcher nor a manager: the process is a job of its own
	Ours                // our launcher, or another program that sets PM2_RANK and PM2_SIZE
	Indexed             // an indexed job of Kubernetes, in which the others find rank 0 by its name
	PMI                 // a manager that speaks PMI 1.1
	PMIx                // a PMIx server
	Mute                // a manager that offers no key space, because its user has not asked for one
)

// String returns the name for people.
func (k Kind) String() string {
	return [...]string{"alone", "the launcher of pm2", "an indexed job of Kubernetes", "PMI 1.1", "PMIx", "a manager without a key space"}[k]
}

// Finding says what has started this process, and which variables show it.
type Finding struct {
	Kind Kind
	By   []string // the variables that show the Kind, as "NAME=value"
	Lack string   // of the Kind Mute: what is missing, and how the user gets it
}

// Find finds out what has started this process. get returns the value of a variable, as os.Getenv does.
func Find(get func(string) string) Finding {
	var f Finding
	has := func(names ...string) bool {
		f.By = nil
		for _, n := range names {
			if v := get(n); v != "" {
				f.By = append(f.By, n+"="+v)
			}
		}
		return f.By != nil
	}
	several := func(name string) bool {
		n, err := strconv.Atoi(get(name))
		return err == nil && n > 1
	}
	switch {
	case get("PM2_RANK") == "" && get(EnvIndex) != "" && has("PM2_SIZE", "PM2_RENDEZVOUS"):
		f.Kind = Indexed
		has(EnvIndex, "PM2_SIZE", "PM2_RENDEZVOUS", "PM2_SECRET_FILE")
	case has("PM2_RANK", "PM2_SIZE", "PM2_RENDEZVOUS"):
		f.Kind = Ours
	case has(envFD, envPort):
		f.Kind = PMI
		has(envFD, envPort, envID, envRank, envSize)
	case has("PMIX_NAMESPACE"):
		f.Kind = PMIx
		has("PMIX_NAMESPACE", "PMIX_RANK", "PMIX_VERSION")
	case several("SLURM_STEP_NUM_TASKS") && has("SLURM_STEP_ID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"):
		f.Kind = Mute
		f.Lack = "Slurm has started several tasks, but offers them no key space: srun --mpi=pmi2, or SLURM_MPI_TYPE=pmi2 in its environment"
	case several("FLUX_JOB_SIZE") && has("FLUX_JOB_ID", "FLUX_TASK_RANK", "FLUX_JOB_SIZE"):
		f.Kind = Mute
		f.Lack = "Flux has started several tasks, but offers them no key space: flux run -o pmi=simple"
	case several("OMPI_COMM_WORLD_SIZE") && has("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"):
		f.Kind = Mute
		f.Lack = "Open MPI has started several processes, but its PMIx variables are missing: are they passed on by the program in between?"
	}
	return f
}

// Open connects to the manager that has started this process. It returns nil and no error if the process has no
// manager, our own launcher included. Open blocks until the manager has answered, or ctx ends.
func Open(ctx context.Context) (Manager, error) {
	switch f := Find(os.Getenv); f.Kind {
	case PMI:
		p, err := openPMI(ctx, os.Getenv)
		if err != nil {
			return nil, err
		}
		return p, nil
	case PMIx:
		return openPMIx(ctx)
	case Mute:
		return nil, &Error{f.Kind.String(), "join the job", fmt.Errorf("found %v: %s", f.By, f.Lack)}
	}
	return nil, nil
}
