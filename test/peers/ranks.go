package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
	"github.com/pm2-go/pm2/pioman"
)

// A traffic is a pattern of messages among more ranks than they have CPUs. src/ranks_mpi.c explains the patterns, and
// has the peer's.
type traffic struct {
	ranks   int
	pattern string
	size    int // bytes of a message
	samples int // of roundsPerSample each: some tenths of a second on two CPUs at rest
}

// traffics are those of the comparisons ranks.
var traffics = []traffic{
	{4, "alltoall", 8, 400}, {4, "ring", 50_001, 150}, {4, "ring", 1_000_003, 30}, {4, "burst", 8, 100},
	{8, "alltoall", 8, 200}, {8, "ring", 50_001, 80}, {8, "ring", 1_000_003, 15}, {8, "burst", 8, 50},
}

// operationsOfMPI are the traffics of the comparisons collectives.
func operationsOfMPI() (all []traffic) {
	for _, ranks := range []int{2, 4} {
		all = append(all, traffic{ranks, "mpi-barrier", 1, 400})
		for _, what := range []string{"bcast", "reduce", "allreduce", "allgather", "alltoall"} {
			for _, size := range []int{8, 1 << 10, 64 << 10, 1 << 20} {
				all = append(all, traffic{ranks, "mpi-" + what, size, max(8, min(400, 8<<20/size))})
			}
		}
	}
	return all
}

func (t traffic) title() string {
	return fmt.Sprintf("%d ranks, %s of %d B", t.ranks, t.pattern, t.size)
}

func (t traffic) args() []string {
	return []string{t.pattern, strconv.Itoa(t.size), strconv.Itoa(t.samples)}
}

const (
	burst           = 100 // messages
	roundsPerSample = 20
	trafficTag      = 1
)

// callers are what waits in ours, by the name of the comparison.
var callers = map[string]string{
	"ranks":          "goroutine", // under pioman.Enable, as in README.md's program
	"ranks-thread":   "thread",    // of marcel, under pioman.Enable
	"ranks-explicit": "explicit",  // a goroutine, and no engine
}

// collectives are the peers of the comparisons of MPI's operations, by the name of the comparison.
var collectives = map[string]func(w *workshop, t traffic) program{
	"collectives":       (*workshop).rankMPI,
	"collectives-mpich": (*workshop).rankMPICH,
}

// rankJob is ours: `demo run` starts this very program as the ranks.
func (w *workshop) rankJob(binary, caller string, t traffic) program {
	p := w.ours(binary)
	p.name, p.confine, p.parse = "ours, "+caller, true, parseNumber
	p.command = func(int, int, [2]int) []string {
		self, err := os.Executable()
		if err != nil {
			self = os.Args[0]
		}
		line := []string{p.binary, "run", "-n", strconv.Itoa(t.ranks), "--plain", "--", self, "rank", caller}
		return append(line, t.args()...)
	}
	return p
}

// rankMPI is the same traffic among ranks of Open MPI that yield when they wait.
func (w *workshop) rankMPI(t traffic) program {
	const binary = "ranks_mpi.bin"
	how, waits := "Open MPI, yielding, ", yielding
	if t.ranks == 2 {
		how, waits = "Open MPI, ", spinning
	}
	launch := slices.Concat(launchers["mpirun.openmpi"], waits, []string{"-np", strconv.Itoa(t.ranks)})
	return program{
		name: how + t.pattern, confine: true, env: onLoopback, isolate: true, parse: parseNumber,
		build: func(ctx context.Context) error {
			if _, err := exec.LookPath(launch[0]); err != nil {
				return fmt.Errorf("%s: %w", launch[0], errMissing)
			}
			return w.compile(ctx, "mpicc.openmpi", "ranks_mpi.c", binary)
		},
		command: func(int, int, [2]int) []string { return slices.Concat(launch, []string{w.path(binary)}, t.args()) },
	}
}

// rankMPICH is the same traffic among ranks of MPICH.
func (w *workshop) rankMPICH(t traffic) program {
	const binary = "ranks_mpich.bin"
	launch := slices.Concat(launchers["mpiexec.hydra"], []string{"-n", strconv.Itoa(t.ranks)})
	return program{
		name: "MPICH, " + t.pattern, confine: true, env: onLoopback, isolate: true, parse: parseNumber,
		build: func(ctx context.Context) error {
			if _, err := exec.LookPath(launch[0]); err != nil {
				return fmt.Errorf("%s: %w", launch[0], errMissing)
			}
			return w.compile(ctx, "mpicc.mpich", "ranks_mpi.c", binary)
		},
		command: func(int, int, [2]int) []string { return slices.Concat(launch, []string{w.path(binary)}, t.args()) },
	}
}

// runRank is the life of one of our ranks: rank CALLER PATTERN SIZE SAMPLES. Rank 0 prints the time of a round in ns.
func runRank(ctx context.Context, args []string) (err error) {
	if len(args) != 4 {
		return fmt.Errorf("rank: %w: give a caller, a pattern, a size and a number of samples", errUsage)
	}
	size, err1 := strconv.Atoi(args[2])
	samples, err2 := strconv.Atoi(args[3])
	if err := errors.Join(err1, err2); err != nil || size < 1 || samples < 1 {
		return fmt.Errorf("rank: %w: a size and a number of samples, at least 1 each: %q", errUsage, args[2:])
	}
	live := func() { err = live(ctx, args[1], size, samples) }
	if args[0] != "explicit" {
		stop, err := pioman.Enable()
		if err != nil {
			return err
		}
		defer stop()
	}
	if args[0] == "thread" {
		marcel.Run(live)
	} else {
		live()
	}
	return err
}

// A talker is a rank, with its buffers and requests.
type talker struct {
	session  *nmad.Session
	size     int
	in, out  []byte
	requests []*nmad.Request
	turn     int
}

func live(ctx context.Context, pattern string, size, samples int) error {
	s, err := nmad.Join(ctx)
	if err != nil {
		return err
	}
	most := max(s.Size(), burst)
	t := &talker{session: s, size: size, in: make([]byte, most*size), out: make([]byte, size)}
	fill(t.in) // memory that was never written is one page of zeros, however long it is
	fill(t.out)
	for range 2 * most {
		t.requests = append(t.requests, &nmad.Request{})
	}
	round, ok := map[string]func() error{
		"alltoall": t.alltoall,
		"ring":     func() error { return t.pass(1) },
		"burst":    func() error { return t.pass(burst) },
	}[pattern]
	if what, is := strings.CutPrefix(pattern, "mpi-"); is {
		if round, err = t.collective(what); err != nil {
			return errors.Join(err, s.Close())
		}
		ok = round != nil
	}
	if !ok {
		return errors.Join(fmt.Errorf("rank: %w: no pattern %q", errUsage, pattern), s.Close())
	}
	ns, err := t.time(round, samples)
	if err == nil {
		err = t.alltoall() // all have come here
	}
	if err == nil && s.Rank() == 0 {
		fmt.Printf("%.1f\n", ns)
	}
	return errors.Join(err, s.Close())
}

func fill(b []byte) {
	for i := range b {
		b[i] = byte(i) | 1
	}
}

// time returns the median time of a round in ns.
func (t *talker) time(round func() error, samples int) (float64, error) {
	rounds := func(n int) error {
		for range n {
			if err := round(); err != nil {
				return err
			}
		}
		return nil
	}
	if err := rounds(roundsPerSample * (1 + samples/10)); err != nil {
		return 0, err
	}
	took := make([]float64, samples)
	for i := range took {
		before := time.Now()
		if err := rounds(roundsPerSample); err != nil {
			return 0, err
		}
		took[i] = float64(time.Since(before)) / roundsPerSample
	}
	slices.Sort(took)
	return quantile(took, 0.5), nil
}

// at is the gate to the rank so many after this one.
func (t *talker) at(distance int) *nmad.Gate {
	s := t.session
	return s.Gate((s.Rank() + distance + s.Size()) % s.Size())
}

// alltoall is one message to each other rank.
func (t *talker) alltoall() error {
	others := t.session.Size() - 1
	return t.exchange(others, func(i int) *nmad.Gate { return t.at(i + 1) }, func(i int) *nmad.Gate { return t.at(i + 1) })
}

// pass is n messages to the next rank.
func (t *talker) pass(n int) error {
	return t.exchange(n, func(int) *nmad.Gate { return t.at(-1) }, func(int) *nmad.Gate { return t.at(1) })
}

// exchange receives n messages and sends n. The first and the last byte of each say which turn it is of.
func (t *talker) exchange(n int, from, to func(i int) *nmad.Gate) error {
	t.turn++
	mark := byte(t.turn % 251)
	t.out[0], t.out[t.size-1] = mark, mark
	slot := func(i int) []byte { return t.in[i*t.size : (i+1)*t.size] }
	for i := range n {
		if err := from(i).IrecvInto(t.requests[i], trafficTag, slot(i)); err != nil {
			return err
		}
	}
	for i := range n {
		if err := to(i).IsendInto(t.requests[n+i], trafficTag, t.out); err != nil {
			return err
		}
	}
	if err := nmad.WaitAll(context.Background(), t.requests[:2*n]...); err != nil {
		return err
	}
	for i := range n {
		if got := slot(i); got[0] != mark || got[t.size-1] != mark {
			return fmt.Errorf("rank %d: message %d of turn %d arrived wrong", t.session.Rank(), i, t.turn)
		}
	}
	return nil
}

// collective is an operation of MPI, as src/ranks_mpi.c has it; nil: there is no such one.
func (t *talker) collective(what string) (func() error, error) {
	c, err := mpi.New(t.session)
	if err != nil {
		return nil, err
	}
	give, get := make([]float64, t.size/8), make([]float64, t.size/8)
	bytes, all := make([]byte, t.size*c.Size()), make([]byte, t.size*c.Size())
	root := func() int { return t.turn % c.Size() }
	round := map[string]func() error{
		"barrier":   func() error { return c.Barrier() },
		"bcast":     func() error { return mpi.Bcast(c, t.out, root()) },
		"reduce":    func() error { return mpi.Reduce(c, mpi.Sum, give, get, root()) },
		"allgather": func() error { return mpi.Allgather(c, t.out, all) },
		"alltoall":  func() error { return mpi.Alltoall(c, bytes, all) },
		"allreduce": func() error {
			give[0] = float64(t.turn)
			err := mpi.Allreduce(c, mpi.Sum, give, get)
			if err == nil && get[0] != give[0]*float64(c.Size()) {
				err = fmt.Errorf("rank %d: turn %d has the sum %v", c.Rank(), t.turn, get[0])
			}
			return err
		},
	}[what]
	if round == nil || (what == "reduce" || what == "allreduce") && t.size < 8 {
		return nil, nil
	}
	return func() error {
		t.turn++
		return round()
	}, nil
}
