package nas

import (
	"fmt"
	"slices"
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

// Kernel is a problem that all ranks have set up. Its runs take turns in its memory: a rank takes one step at a time.
type Kernel struct {
	Comm        *mpi.Comm
	Name, Class string
	problem     problem
}

// problem is that of one kernel.
type problem interface {
	steps() int
	begin() state
}

// state is what a run has come to. A step depends on it, and on the problem, alone.
type state interface {
	step(i int) error        // the steps have the numbers 0, 1, ...; all ranks take the same ones
	set(from state)          // to that of another run
	verify() (string, error) // after the last step, and before one of another run: what is as published, or what is not
}

// New sets a kernel up, at all ranks of c.
func New(c *mpi.Comm, kernel, class string) (*Kernel, error) {
	k := &Kernel{Comm: c, Name: strings.ToUpper(kernel), Class: strings.ToUpper(class)}
	size := slices.Index(Classes, k.Class)
	if !slices.Contains(Kernels, strings.ToLower(kernel)) || size < 0 {
		return nil, fmt.Errorf("nas: no kernel %q of class %q: there are %s, of the classes %s", kernel, class, strings.Join(Kernels, ", "), strings.Join(Classes, ", "))
	}
	switch k.Name {
	case "EP":
		k.problem = newEP(c, size)
	case "IS":
		k.problem = newIS(c, size)
	case "CG":
		k.problem = newCG(c, size)
	}
	return k, nil
}

// Steps is how many steps a run has.
func (k *Kernel) Steps() int { return k.problem.steps() }

// Begin begins a run.
func (k *Kernel) Begin() *Course { return &Course{kernel: k, state: k.problem.begin()} }

// Course is a run of a kernel, step by step.
type Course struct {
	kernel *Kernel
	state  state
	next   int // step
}

// Step takes the next step, at all ranks. After the last one of a run there is none.
func (c *Course) Step() error {
	if c.next == c.kernel.Steps() {
		return c.wrong(fmt.Errorf("there are %d steps", c.next))
	}
	if err := c.state.step(c.next); err != nil {
		return c.wrong(err)
	}
	c.next++
	return nil
}

// Left is how many steps are left.
func (c *Course) Left() int { return c.kernel.Steps() - c.next }

// Set has c stand where another run of the same kernel stands.
func (c *Course) Set(from *Course) {
	c.state.set(from.state)
	c.next = from.next
}

// Verify says what is as published; its error says what is not. A rank calls it after the last step of the run, and
// before another run of the kernel takes one.
func (c *Course) Verify() (string, error) {
	if n := c.Left(); n > 0 {
		return "", c.wrong(fmt.Errorf("%d steps are left", n))
	}
	value, err := c.state.verify()
	if err != nil {
		return "", c.wrong(err)
	}
	return value, nil
}

func (c *Course) wrong(err error) error {
	return fmt.Errorf("nas: %s, class %s, %d ranks: %w", c.kernel.Name, c.kernel.Class, c.kernel.Comm.Size(), err)
}

// Run runs a kernel, at all ranks of c. Its error says what is not as published.
func Run(c *mpi.Comm, kernel, class string) (*Result, error) {
	k, err := New(c, kernel, class)
	if err != nil {
		return nil, err
	}
	r := k.Begin()
	if err := c.Barrier(); err != nil {
		return nil, err
	}
	began := time.Now()
	for r.Left() > 0 {
		if err := r.Step(); err != nil {
			return nil, err
		}
	}
	took := []int64{int64(time.Since(began))}
	value, err := r.Verify()
	if err != nil {
		return nil, err
	}
	if err := mpi.Allreduce(c, mpi.Max, nil, took); err != nil {
		return nil, err
	}
	return &Result{k.Name, k.Class, c.Size(), time.Duration(took[0]), value}, nil
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
