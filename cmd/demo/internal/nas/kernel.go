package nas

import (
	"fmt"
	"strings"
	"time"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// Result is what a run came to at each rank.
type Result struct {
	Kernel, Class string
	Ranks         int
	Took          time.Duration // of the part that the benchmark times, the longest of all ranks
	Value         string        // what was verified
}

// Kernels are the names of the kernels, Classes those of the sizes, from the smallest up.
var (
	Kernels = []string{"ep", "is", "cg"}
	Classes = []string{"S", "W", "A"}
)

// Run runs a kernel, at all ranks of c. Its error says what is not as published.
func Run(c *mpi.Comm, kernel, class string) (*Result, error) {
	class = strings.ToUpper(class)
	i := -1
	for k, name := range Classes {
		if name == class {
			i = k
		}
	}
	f := map[string]func(c *mpi.Comm, class int) (func() (string, error), error){"ep": newEP, "is": newIS, "cg": newCG}[strings.ToLower(kernel)]
	if f == nil || i < 0 {
		return nil, fmt.Errorf("nas: no kernel %q of class %q: there are %s, of the classes %s", kernel, class, strings.Join(Kernels, ", "), strings.Join(Classes, ", "))
	}
	run, err := f(c, i)
	if err != nil {
		return nil, err
	}
	if err := c.Barrier(); err != nil {
		return nil, err
	}
	began := time.Now()
	value, err := run()
	if err != nil {
		return nil, fmt.Errorf("nas: %s, class %s, %d ranks: %w", strings.ToUpper(kernel), class, c.Size(), err)
	}
	took := []int64{int64(time.Since(began))}
	if err := mpi.Allreduce(c, mpi.Max, nil, took); err != nil {
		return nil, err
	}
	return &Result{strings.ToUpper(kernel), class, c.Size(), time.Duration(took[0]), value}, nil
}

// random is the generator of the benchmarks: x' = 5^13 x mod 2^46, as a number between 0 and 1.
type random uint64

const (
	multiplier = 1220703125
	modulus    = 1<<46 - 1
)

func (x *random) next() float64 {
	*x = *x * multiplier & modulus
	return float64(*x) / (1 << 46)
}

// skip goes n numbers on.
func (x *random) skip(n int) {
	for a := random(multiplier); n > 0; n >>= 1 {
		if n&1 != 0 {
			*x = *x * a & modulus
		}
		a = a * a & modulus
	}
}
