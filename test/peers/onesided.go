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

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/am"
	"github.com/pm2-go/pm2/nmad/rma"
)

// An access is a one-sided operation, or an active message, of rank 0 to rank 1. src/onesided_mpi.c has those of MPI.
type access struct {
	what    string
	size    int    // bytes
	samples int    // of accessBatch operations each, of one where it has many bytes
	mpi     bool   // MPI has it
	ucx     string // the test of ucx_perftest; empty: none
	probe   bool   // it stands beside the raw cache line
	noted   noted  // what a peer took that cannot be installed here
}

// A noted figure was measured earlier, or published; it is of another minute.
type noted struct {
	by string // empty: there is none
	ns float64
}

// accesses are those of the comparisons onesided.
var accesses = []access{
	{what: "put", size: 8, samples: 2000, mpi: true},
	{what: "put", size: 1 << 20, samples: 400, mpi: true},
	{what: "get", size: 8, samples: 2000, mpi: true, ucx: "ucp_get"},
	{what: "get", size: 1 << 20, samples: 400, mpi: true, ucx: "ucp_get"},
	{what: "fop", size: 8, samples: 2000, mpi: true, ucx: "ucp_fadd"},
	{what: "cas", size: 8, samples: 2000, mpi: true, ucx: "ucp_cswap"},
	{what: "put-bw", size: 8, samples: 2000, mpi: true, ucx: "ucp_put_bw"},
	{what: "signal", size: 8, samples: 2000, ucx: "ucp_put_lat", probe: true},
	{what: "am", size: 0, samples: 10000, noted: noted{"GASNet smp, short", 1040}},
	{what: "am", size: 4 << 10, samples: 10000, noted: noted{"GASNet smp, medium", 1550}},
	{what: "initiate-put", size: 8, samples: 2000, noted: noted{"GASNet smp", 2}},
	{what: "initiate-fop", size: 8, samples: 2000, noted: noted{"GASNet smp", 6}},
	{what: "initiate-cas", size: 8, samples: 2000, noted: noted{"UCX posix", 38}},
}

const (
	accessBatch  = 100
	accessLarge  = 64 << 10 // bytes: one operation is a sample
	accessWindow = 64       // puts before a flush
	answerTag    = 2
)

// accessTitles say what is timed.
var accessTitles = map[string]string{
	"put": "put and flush", "get": "get and flush", "fop": "fetch-and-add, 8 B", "cas": "compare-and-swap, 8 B", "put-bw": "put, 64 to a flush",
	"signal": "put with signal, one way", "am": "active message, round trip",
	"initiate-put": "initiator: put", "initiate-fop": "initiator: fetch-and-add, 8 B", "initiate-cas": "initiator: compare-and-swap, 8 B",
}

func (a access) title() string {
	title := accessTitles[a.what]
	if strings.HasSuffix(title, " B") {
		return title
	}
	switch {
	case a.size == 0:
		return title + ", short"
	case a.size < 1<<10:
		return fmt.Sprintf("%s, %d B", title, a.size)
	}
	size := formatSize(a.size)
	return title + ", " + size[:len(size)-1] + " " + size[len(size)-1:] + "iB"
}

// args are those of the programs, ours and MPI's.
func (a access) args() []string {
	return []string{a.what, strconv.Itoa(a.size), strconv.Itoa(a.samples)}
}

// oneSided are the comparisons of the name: onesided, and with the peer's name behind it.
func (w *workshop) oneSided(binary string) (all []comparison) {
	add := func(name string, a access, peer program) {
		all = append(all, comparison{name: name, operation: a.title(), ours: w.accessJob(binary, a), peer: peer, sizes: []int{1}})
	}
	for _, a := range accesses {
		if a.mpi {
			openMPI := slices.Concat(launchers["mpirun.openmpi"], spinning, []string{"-np", "2"})
			if a.what != "cas" { // MPI_Compare_and_swap of its default, 4.1.4, ends in a segmentation fault
				add("onesided", a, w.accessMPI("Open MPI", "mpicc.openmpi", openMPI, a))
			}
			add("onesided-sm", a, w.accessMPI("Open MPI osc/sm", "mpicc.openmpi", slices.Concat(openMPI, []string{"--mca", "osc", "sm"}), a))
			add("onesided-mpich", a, w.accessMPI("MPICH", "mpicc.mpich", slices.Concat(launchers[hydra], []string{"-n", "2"}), a))
		}
		if a.ucx != "" {
			add("onesided-ucx", a, w.accessUCX(a))
		}
		if a.probe {
			p := w.probe()
			p.name, p.command = "the raw cache line, "+p.name, func(_, _ int, cpus [2]int) []string { return w.probe().command(1, 10000, cpus) }
			add("onesided-probe", a, p)
		}
		if a.noted.by != "" {
			add("onesided-noted", a, program{name: a.noted.by + ", noted earlier", noted: a.noted.ns, build: func(context.Context) error { return nil }})
		}
	}
	slices.SortStableFunc(all, func(a, b comparison) int { return slices.Index(known, a.name) - slices.Index(known, b.name) })
	return all
}

// accessJob is ours: `demo run` starts this very program as the two ranks.
func (w *workshop) accessJob(binary string, a access) program {
	p := w.ours(binary)
	p.name, p.confine, p.parse = "ours", true, parseNumber
	p.command = func(int, int, [2]int) []string { // demo run binds each rank to a CPU
		self, err := os.Executable()
		if err != nil {
			self = os.Args[0]
		}
		return append([]string{p.binary, "run", "-n", "2", "--plain", "--", self, "access"}, a.args()...)
	}
	return p
}

// accessMPI is the same of an MPI.
func (w *workshop) accessMPI(name, compiler string, launch []string, a access) program {
	binary := "onesided." + compiler
	return program{
		name: name + ", " + a.what, env: onLoopback, isolate: true, parse: parseNumber,
		build: func(ctx context.Context) error {
			if _, err := exec.LookPath(launch[0]); err != nil {
				return fmt.Errorf("%s: %w", launch[0], errMissing)
			}
			return w.compile(ctx, compiler, "onesided_mpi.c", binary)
		},
		command: func(_, _ int, cpus [2]int) []string {
			return slices.Concat(launch, []string{w.path(binary)}, a.args(), []string{fmt.Sprintf("%d,%d", cpus[0], cpus[1])})
		},
	}
}

// ucxScript starts both sides of ucx_perftest: CPU CPU PORT TEST SIZE ITERATIONS.
const ucxScript = `taskset -c $2 ucx_perftest -p $3 >/dev/null 2>&1 & sleep 0.5
taskset -c $1 ucx_perftest 127.0.0.1 -p $3 -t $4 -s $5 -n $6 -w 1000 -f; e=$?; kill $! 2>/dev/null; wait; exit $e`

// accessUCX is the same of UCX alone, over its shared memory.
func (w *workshop) accessUCX(a access) program {
	n := a.samples * accessBatch
	if a.size > accessLarge {
		n = a.samples
	}
	return program{
		name: "UCX, " + a.ucx, env: append(slices.Clone(onLoopback), "UCX_TLS=posix,self"), isolate: true,
		parse: func(output []byte, size int) (figure, error) {
			return parseUCX(output, size, a.ucx == "ucp_put_lat")
		},
		build: func(context.Context) error {
			if _, err := exec.LookPath("ucx_perftest"); err != nil {
				return fmt.Errorf("ucx_perftest of ucx-utils: %w", errMissing)
			}
			return nil
		},
		command: func(_, _ int, cpus [2]int) []string {
			w.jobs++
			return []string{"sh", "-c", ucxScript, "sh", strconv.Itoa(cpus[0]), strconv.Itoa(cpus[1]), strconv.Itoa(17000 + os.Getpid()%1000 + w.jobs%1000), a.ucx, strconv.Itoa(a.size), strconv.Itoa(n)}
		},
	}
}

// parseUCX reads the last line of ucx_perftest: iterations, the median of an operation and the average in us. The
// median comes in steps of some ns; what is initiated in as few has the average.
func parseUCX(output []byte, size int, median bool) (figure, error) {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	words := strings.Fields(lines[len(lines)-1])
	at := 2
	if median {
		at = 1
	}
	if len(words) < 3 {
		return figure{}, fmt.Errorf("figures of ucx_perftest were expected, not %.80q", output)
	}
	us, err := strconv.ParseFloat(words[at], 64)
	if err != nil || !(us > 0) {
		return figure{}, fmt.Errorf("a time in us was expected, not %.80q", words[at])
	}
	return figure{Size: size, Median: us * 1000}, nil
}

// runAccess is the life of one of our ranks: access OPERATION SIZE SAMPLES. Rank 0 prints the median time of an
// operation in ns.
func runAccess(ctx context.Context, args []string) error {
	if len(args) != 3 || accessTitles[args[0]] == "" {
		return fmt.Errorf("access: %w: give an operation, a size and a number of samples: %q", errUsage, args)
	}
	size, err1 := strconv.Atoi(args[1])
	samples, err2 := strconv.Atoi(args[2])
	if err := errors.Join(err1, err2); err != nil || size < 0 || size == 0 && args[0] != "am" || samples < 1 {
		return fmt.Errorf("access: %w: a size and a number of samples, at least 1: %q", errUsage, args[1:])
	}
	s, err := nmad.Join(ctx)
	if err != nil {
		return err
	}
	x := accessor{what: args[0], size: size, samples: samples, s: s}
	if x.what == "am" {
		err = x.messages(ctx)
	} else {
		err = x.oneSided(ctx)
	}
	return errors.Join(err, s.Close())
}

// An accessor is a rank, with what it accesses.
type accessor struct {
	what          string
	size, samples int
	s             *nmad.Session
	d             *rma.Domain
	at            rma.Ref // at the other rank
	buf           []byte
	count         int64 // atomics so far
}

// report prints the median of samples of n calls each, which are so many operations.
func (x *accessor) report(n, operations int, one func() error) error {
	batch := func() error {
		for range n {
			if err := one(); err != nil {
				return err
			}
		}
		return nil
	}
	for range 1 + x.samples/10 {
		if err := batch(); err != nil {
			return err
		}
	}
	took := make([]int64, x.samples)
	for i := range took {
		before := asm.Cycles()
		if err := batch(); err != nil {
			return err
		}
		took[i] = asm.Cycles() - before
	}
	slices.Sort(took)
	fmt.Printf("%.1f\n", float64(asm.Nanos(took[len(took)/2]))/float64(operations))
	return nil
}

// await has rank 1 wait until rank 0 has done what it does.
func (x *accessor) await(lead func() error) error {
	g := x.s.Gate(1 - x.s.Rank())
	var b [1]byte
	if x.s.Rank() == 1 {
		_, err := g.Recv(answerTag, b[:])
		return err
	}
	return errors.Join(lead(), g.Send(answerTag, b[:]))
}

// oneSided does an operation of nmad/rma.
func (x *accessor) oneSided(ctx context.Context) error {
	w, err := rma.Open(x.s)
	if err != nil {
		return err
	}
	seg, err := w.Alloc(x.size + 64)
	if err != nil {
		return err
	}
	if x.d, err = w.Domain(rma.DomainConfig{Access: nmad.Private}); err != nil {
		return err
	}
	x.at, x.buf = seg.At(1-x.s.Rank(), 64), make([]byte, x.size)
	x.buf[x.size-1] = 77
	if x.what == "signal" {
		if err := x.signals(ctx, seg); err != nil {
			return err
		}
		return w.Close()
	}
	one, windowed := x.operation()
	n := accessBatch
	if x.size > accessLarge {
		n = 1
	}
	if err := x.await(func() error {
		if x.what == "put-bw" {
			return x.report(accessWindow, accessWindow, windowed)
		}
		return x.report(n, n, one)
	}); err != nil {
		return err
	}
	if strings.HasPrefix(x.what, "put") && x.s.Rank() == 1 && seg.Bytes()[64+x.size-1] != 77 {
		return fmt.Errorf("the last byte of %d has not arrived", x.size)
	}
	return w.Close()
}

// operation is what is timed; the second one is part of a window of puts.
func (x *accessor) operation() (one, windowed func() error) {
	atomic := func(old int64, err error) error {
		if err == nil && old != x.count {
			err = fmt.Errorf("atomic number %d has found %d", x.count, old)
		}
		x.count++
		return err
	}
	d, at, buf := x.d, x.at, x.buf
	puts := 0
	windowed = func() error {
		if err := d.PutNBI(at, buf); err != nil {
			return err
		}
		if puts++; puts%accessWindow != 0 {
			return nil
		}
		return d.Flush(1)
	}
	one = map[string]func() error{
		"put":          func() error { return errors.Join(d.PutNBI(at, buf), d.Flush(1)) },
		"get":          func() error { return errors.Join(d.GetNBI(buf, at), d.Flush(1)) },
		"initiate-put": func() error { return d.Put(at, buf) },
		"fop":          func() error { return atomic(rma.Fetch(d, rma.Add, at, int64(1))) },
		"cas":          func() error { return atomic(rma.CompareAndSwap(d, at, x.count, x.count+1)) },
	}[x.what]
	switch x.what {
	case "initiate-fop":
		one = func() error { _, err := rma.Fetch(d, rma.Add, at, int64(1)); return err }
	case "initiate-cas":
		one = func() error { _, err := rma.CompareAndSwap(d, at, int64(0), 0); return err }
	}
	return one, windowed
}

// signals is a ping-pong of puts with a signal: rank 0 prints the time one way.
func (x *accessor) signals(ctx context.Context, seg *rma.Segment) error {
	sig, mine, turn := seg.At(1-x.s.Rank(), 0), seg.At(x.s.Rank(), 0), uint64(0)
	put := func() error { return x.d.PutSignal(x.at, x.buf, sig, rma.SignalAdd, 1) }
	wait := func() error {
		turn++
		_, err := x.d.WaitSignal(ctx, mine, rma.GE, turn)
		return err
	}
	if x.s.Rank() == 0 {
		return x.report(accessBatch/2, accessBatch, func() error { return errors.Join(put(), wait()) })
	}
	for range (x.samples + 1 + x.samples/10) * (accessBatch / 2) {
		if err := errors.Join(wait(), put()); err != nil {
			return err
		}
	}
	return nil
}

// messages is the round trip of an active message, which rank 1 polls for.
func (x *accessor) messages(ctx context.Context) error {
	w, err := am.Open(x.s, am.Config{})
	if err != nil {
		return err
	}
	const echo, end = 1, 2
	ended := false
	d, body := w.Default(), make([]byte, x.size)
	err = errors.Join(
		w.Handle(echo, func(t *am.Token, _ []uint64, body []byte) { _ = t.Reply(nil, body) }),
		w.Handle(end, func(t *am.Token, _ []uint64, _ []byte) { ended = true; _ = t.Reply(nil, nil) }))
	if err != nil {
		return err
	}
	if x.s.Rank() == 1 {
		for !ended {
			d.Poll()
		}
	} else {
		var r am.Reply
		ask := func(id am.ID) error {
			if err := d.RequestFor(&r, 1, id, nil, body); err != nil {
				return err
			}
			_, got, err := r.WaitContext(ctx)
			if err == nil && id == echo && len(got) != x.size {
				err = fmt.Errorf("%d bytes came back of %d", len(got), x.size)
			}
			return err
		}
		if err := x.report(1, 1, func() error { return ask(echo) }); err != nil {
			return err
		}
		if err := ask(end); err != nil {
			return err
		}
	}
	return w.Close()
}
