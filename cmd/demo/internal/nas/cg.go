package nas

import (
	"fmt"
	"math"
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// The sizes of CG, and the published result.
var cgClasses = []struct {
	n, nonzero int
	shift      float64
	zeta       float64
}{
	{1400, 7, 10, 8.5971775078648},
	{7000, 8, 12, 10.362595087124},
	{14000, 11, 20, 17.130235054029},
}

const (
	cgIterations = 15
	cgSteps      = 25
	cgCondition  = 0.1
)

// gradient is the rows of one rank of the matrix, and the vectors.
type gradient struct {
	c           *mpi.Comm
	n           int
	first       int
	counts      []int // rows of each rank
	starts      []int // by row: where its elements begin
	columns     []int32
	values      []float64
	z, r, q, d  []float64 // this rank's part
	p           []float64 // whole
	shift, want float64
}

// cgState is what the power method has come to.
type cgState struct {
	*gradient
	x              []float64 // this rank's part
	zeta, residual float64
}

// vector is a sparse one.
type vector struct {
	at    []int32
	value []float64
}

// newCG makes the matrix: a sum of outer products of sparse random vectors, with weights that fall. Each rank makes all
// vectors, since their numbers are one sequence, and keeps its rows.
func newCG(c *mpi.Comm, class int) problem {
	x := cgClasses[class]
	g := &gradient{c: c, n: x.n, shift: x.shift, want: x.zeta}
	for r := range c.Size() {
		g.counts = append(g.counts, (r+1)*x.n/c.Size()-r*x.n/c.Size())
	}
	g.first = c.Rank() * x.n / c.Size()
	behind := g.first + g.counts[c.Rank()]
	seed := random(314159265)
	seed.next()
	rows := make([]map[int32]float64, behind-g.first)
	for i := range rows {
		rows[i] = map[int32]float64{}
	}
	ratio, weight := math.Pow(cgCondition, 1/float64(x.n)), 1.0
	for i := range x.n {
		v := sparse(&seed, x.n, x.nonzero)
		v.set(int32(i), 0.5)
		for k, row := range v.at {
			if int(row) < g.first || int(row) >= behind {
				continue
			}
			scale := weight * v.value[k]
			for l, column := range v.at {
				a := v.value[l] * scale
				if column == row && int(row) == i {
					a += cgCondition - x.shift
				}
				rows[int(row)-g.first][column] += a
			}
		}
		weight *= ratio
	}
	for _, row := range rows {
		g.starts = append(g.starts, len(g.values))
		columns := make([]int32, 0, len(row))
		for column := range row {
			columns = append(columns, column)
		}
		slices.Sort(columns)
		for _, column := range columns {
			g.columns, g.values = append(g.columns, column), append(g.values, row[column])
		}
	}
	g.starts = append(g.starts, len(g.values))
	own := len(rows)
	g.z, g.r, g.q, g.d, g.p = make([]float64, own), make([]float64, own), make([]float64, own), make([]float64, own), make([]float64, x.n)
	return g
}

// sparse draws a vector with so many elements at different places.
func sparse(r *random, n, nonzero int) *vector {
	power := 1
	for power < n {
		power *= 2
	}
	v := &vector{}
	for len(v.at) < nonzero {
		value := r.next()
		at := int32(float64(power) * r.next())
		if int(at) < n && !slices.Contains(v.at, at) {
			v.at, v.value = append(v.at, at), append(v.value, value)
		}
	}
	return v
}

// set gives an element a value.
func (v *vector) set(at int32, value float64) {
	if i := slices.Index(v.at, at); i >= 0 {
		v.value[i] = value
		return
	}
	v.at, v.value = append(v.at, at), append(v.value, value)
}

func (g *gradient) steps() int { return cgIterations }

func (g *gradient) begin() state {
	s := &cgState{gradient: g, x: make([]float64, len(g.z))}
	for i := range s.x {
		s.x[i] = 1
	}
	return s
}

func (s *cgState) set(from state) {
	f := from.(*cgState)
	copy(s.x, f.x)
	s.zeta, s.residual = f.zeta, f.residual
}

// step is an iteration of the power method, which solves with the matrix.
func (s *cgState) step(int) (err error) {
	if s.residual, err = s.solve(s.x); err != nil {
		return err
	}
	sums := []float64{s.dot(s.x, s.z), s.dot(s.z, s.z)}
	if err := mpi.Allreduce(s.c, mpi.Sum, nil, sums); err != nil {
		return err
	}
	s.zeta = s.shift + 1/sums[0]
	norm := 1 / math.Sqrt(sums[1])
	for i, z := range s.z {
		s.x[i] = norm * z
	}
	return nil
}

func (s *cgState) verify() (string, error) {
	value := fmt.Sprintf("zeta %.13f, residual %.1e", s.zeta, s.residual)
	if math.Abs((s.zeta-s.want)/s.want) > 1e-10 {
		return "", fmt.Errorf("%s, published is zeta %.13f", value, s.want)
	}
	return value, nil
}

func (g *gradient) dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// sum is dot over all ranks.
func (g *gradient) sum(a, b []float64) (float64, error) {
	s := []float64{g.dot(a, b)}
	err := mpi.Allreduce(g.c, mpi.Sum, nil, s)
	return s[0], err
}

// times leaves the matrix times a vector, of which each rank has its part, in out.
func (g *gradient) times(part, out []float64) error {
	if err := mpi.Allgatherv(g.c, part, g.p, g.counts, nil); err != nil {
		return err
	}
	for i := range out {
		sum := 0.0
		for k := g.starts[i]; k < g.starts[i+1]; k++ {
			sum += g.values[k] * g.p[g.columns[k]]
		}
		out[i] = sum
	}
	return nil
}

// solve approximates z with A z = x, by steps of the method of conjugate gradients, and returns the norm of what is
// left of x.
func (g *gradient) solve(x []float64) (residual float64, err error) {
	clear(g.z)
	copy(g.r, x)
	p := g.d // the direction
	copy(p, g.r)
	rho, err := g.sum(g.r, g.r)
	if err != nil {
		return 0, err
	}
	for range cgSteps {
		if err := g.times(p, g.q); err != nil {
			return 0, err
		}
		pq, err := g.sum(p, g.q)
		if err != nil {
			return 0, err
		}
		alpha := rho / pq
		for i := range g.z {
			g.z[i] += alpha * p[i]
			g.r[i] -= alpha * g.q[i]
		}
		before := rho
		if rho, err = g.sum(g.r, g.r); err != nil {
			return 0, err
		}
		beta := rho / before
		for i := range p {
			p[i] = g.r[i] + beta*p[i]
		}
	}
	if err := g.times(g.z, g.q); err != nil {
		return 0, err
	}
	for i := range g.q {
		g.q[i] = x[i] - g.q[i]
	}
	rest, err := g.sum(g.q, g.q)
	return math.Sqrt(rest), err
}
