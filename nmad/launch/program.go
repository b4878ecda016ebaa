package launch

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
)

// Program is what some ranks of a job run, where not all run the same.
type Program struct {
	N    int      // how many ranks
	Path string   // the program; default Spec.Path
	Args []string // its arguments, without its name
	Env  []string // more environment, "NAME=value", after Spec.Env
	Dir  string   // its working directory; default Spec.Dir

	// Inherit says which variables of our own environment it gets; nil: all. Those of the job, and the settings of
	// Spec, it always gets.
	Inherit func(name string) bool
}

// programs completes Programs, so that they are those of all ranks.
func (s *Spec) programs() error {
	if len(s.Programs) == 0 {
		s.Programs = []Program{{N: s.N, Path: s.Path, Args: s.Args}}
	}
	n := 0
	all := make([]Program, 0, len(s.Programs))
	for _, p := range s.Programs {
		if p.N < 1 {
			return fmt.Errorf("launch: %w: %d processes of %s: give at least 1", ErrSpec, p.N, p.Path)
		}
		n += p.N
		p.Path, p.Dir = cmp.Or(p.Path, s.Path), cmp.Or(p.Dir, s.Dir)
		if abs, err := filepath.Abs(p.Dir); err == nil && p.Dir != "" {
			p.Dir = abs
		}
		all = append(all, p)
	}
	if n != s.N {
		return fmt.Errorf("launch: %w: the programs have %d processes, and the job %d", ErrSpec, n, s.N)
	}
	s.Programs = all
	return nil
}

// folders checks the working directories of the programs that have ranks here. First and Count must be settled.
func (s *Spec) folders() error {
	first := 0 // rank of the program
	for _, p := range s.Programs {
		here := first < s.First+s.Count && first+p.N > s.First
		if first += p.N; !here || p.Dir == "" {
			continue
		}
		if info, err := os.Stat(p.Dir); err != nil {
			return fmt.Errorf("launch: %w: the working directory on %s: %w", ErrSpec, hostName(), err)
		} else if !info.IsDir() {
			return fmt.Errorf("launch: %w: the working directory on %s: %s is no directory", ErrSpec, hostName(), p.Dir)
		}
	}
	return nil
}

// program returns the program of a rank, and its index in Programs.
func (s *Spec) program(rank int) (p *Program, number int) {
	for number = range s.Programs {
		if p = &s.Programs[number]; rank < p.N {
			break
		}
		rank -= p.N
	}
	return p, number
}
