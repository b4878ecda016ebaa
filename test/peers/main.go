package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// settings are the flags.
type settings struct {
	sizes        []int
	reps, iters  int
	only         []string
	engine, demo string
	argobots     string
	format, file string
	control      bool
	list         bool
	reuse        bool
}

// standard are the comparisons of a run without -only.
var standard = []string{"shm", "reuse", "tcp", "onecpu", "onecpu-yield"}

// known are all comparisons, in the order in which they run.
var known = append(slices.Clone(standard), "unix", "ucx", "mpich", "openmpi-tcp", "mpich-tcp",
	"bandwidth", "bandwidth-ucx", "bandwidth-tcp", "bandwidth-openmpi-tcp", "rate", "argobots", "ranks", "ranks-thread", "ranks-explicit", "collectives", "collectives-mpich",
	"onesided", "onesided-sm", "onesided-mpich", "onesided-ucx", "onesided-probe", "onesided-noted")

// window is how many messages are under way at once for bandwidths and rates, as in OSU's tests.
const window = 64

func main() {
	enterLoopback()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) > 1 && os.Args[1] == "job" {
		os.Exit(exitOf(runJob(ctx, os.Args[2:])))
	}
	if len(os.Args) > 1 && os.Args[1] == "rank" {
		os.Exit(exitOf(runRank(ctx, os.Args[2:])))
	}
	if len(os.Args) > 1 && os.Args[1] == "access" {
		os.Exit(exitOf(runAccess(ctx, os.Args[2:])))
	}
	s, err := parseFlags(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(2)
	}
	if s.list {
		for _, c := range s.comparisons(&workshop{}) {
			fmt.Println(c.name+":", c.ours.name+",", "beside", c.peer.name)
		}
		return
	}
	if err := compareAll(ctx, s, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func parseFlags(args []string) (settings, error) {
	var s settings
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	sizes := f.String("sizes", "1:4M", "message `sizes` in bytes of the rows over shared memory: 1:64K doubles, 1,8,4K is a list")
	only := f.String("only", strings.Join(standard, ","), "`comparisons` to run, of "+strings.Join(known, ","))
	f.IntVar(&s.reps, "reps", 5, "`pairs` of runs per row")
	f.IntVar(&s.iters, "iters", 0, "timed round `trips` per run of a ping-pong; 0: as many as suit the size")
	f.StringVar(&s.engine, "engine", "", "our engine `mode`, hooks or explicit; empty: the demo's default")
	f.StringVar(&s.demo, "demo", "", "a built demo `binary`; empty: build it")
	f.StringVar(&s.argobots, "argobots", os.Getenv("ARGOBOTS"), "the `prefix` below which Argobots is installed; empty: the environment's ARGOBOTS")
	f.StringVar(&s.format, "format", "table", "what goes to standard output: table or json")
	f.StringVar(&s.file, "json", "", "write the JSON to this `file` too")
	f.BoolVar(&s.list, "list", false, "print what would be compared, and measure nothing")
	f.BoolVar(&s.control, "control", false, "put each peer beside itself: the ratios show what chance makes of 1")
	f.BoolVar(&s.reuse, "reuse", false, "let MPI send the same bytes over shared memory again and again, as OSU's tests do; ours are always written anew")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(os.Stdout)
			fmt.Println("Usage: go run ./test/peers [flags]")
			f.PrintDefaults()
		}
		return s, err
	}
	var err error
	if s.sizes, err = parseSizes(*sizes); err != nil {
		return s, err
	}
	s.only = strings.Split(*only, ",")
	for _, name := range s.only {
		if !slices.Contains(known, name) {
			return s, fmt.Errorf("no comparison %q: choose from %s", name, strings.Join(known, ","))
		}
	}
	switch {
	case f.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q: there are only flags, see -help", f.Arg(0))
	case s.reps < 1:
		return s, fmt.Errorf("-reps %d: write at least 1, and 5 for figures that are to be quoted", s.reps)
	case s.iters < 0:
		return s, fmt.Errorf("-iters %d: write at least 1, or 0 to let the size decide", s.iters)
	case s.format != "table" && s.format != "json":
		return s, fmt.Errorf("-format %q: write table or json", s.format)
	case s.engine != "" && s.engine != "hooks" && s.engine != "explicit":
		return s, fmt.Errorf("-engine %q: write hooks or explicit", s.engine)
	}
	return s, nil
}

// comparisons are those asked for, in the order of known.
func (s settings) comparisons(w *workshop) []comparison {
	one := []int{1}
	large := []int{32 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}
	huge := []int{1 << 20, 4 << 20}
	shm := w.demo(s.demo, "shm", s.engine)
	tcp := w.demo(s.demo, "tcp", s.engine)
	shared := shm
	shared.name += ", one CPU"
	pipe := w.native("blocking pipes, one CPU", "pingpong_pipe").fresh()
	socket := w.native("C busy-poll, tcp", "pingpong_tcp").fresh()
	yielding := w.native("C shm and sched_yield, one CPU", "pingpong_yield").fresh()
	same := w.openMPI("Open MPI, the same bytes again and again")
	mpi, ucx, mpich := w.openMPI("Open MPI, default path"), w.ucx("Open MPI over UCX"), w.mpich("MPICH, default path")
	if !s.reuse {
		mpi, ucx, mpich = mpi.fresh(), ucx.fresh(), mpich.fresh()
	}
	mpiTCP := w.openMPI("Open MPI, tcp", overTCP...).fresh()
	all := []comparison{
		{name: "shm", ours: shm, peer: mpi, sizes: s.sizes},
		{name: "reuse", ours: shm, peer: same, sizes: s.sizes},
		{name: "tcp", ours: tcp, peer: socket, sizes: []int{1, 4 << 10, 16 << 10, 32 << 10, 64 << 10}},
		{name: "onecpu", ours: shared, peer: pipe, sizes: one, oneCPU: true},
		{name: "onecpu-yield", ours: shared, peer: yielding, sizes: one, oneCPU: true},
		{name: "unix", ours: w.demo(s.demo, "unix", s.engine), peer: w.native("C busy-poll, unix", "pingpong_tcp", "-u").fresh(), sizes: one},
		{name: "ucx", ours: shm, peer: ucx, sizes: s.sizes},
		{name: "mpich", ours: shm, peer: mpich, sizes: s.sizes},
		{name: "openmpi-tcp", ours: tcp, peer: mpiTCP, sizes: s.sizes},
		{name: "mpich-tcp", ours: tcp, peer: w.mpich("MPICH, tcp", "-genv", "UCX_TLS", "tcp,self").fresh(), sizes: s.sizes},
	}
	for _, c := range []comparison{
		{name: "bandwidth", ours: shm, peer: mpi, sizes: large},
		{name: "bandwidth-ucx", ours: shm, peer: ucx, sizes: large},
		{name: "bandwidth-tcp", ours: tcp, peer: socket, sizes: huge},
		{name: "bandwidth-openmpi-tcp", ours: tcp, peer: mpiTCP, sizes: huge},
		{name: "rate", ours: shm, peer: mpi, sizes: []int{8}},
	} {
		all = append(all, c.windowed(window))
	}
	for _, o := range operations {
		all = append(all, comparison{name: "argobots", operation: o.row, ours: w.bench(s.demo, o),
			peer: w.argobots(s.argobots, o), sizes: one, oneCPU: !o.crosses})
	}
	for _, name := range known {
		for _, t := range traffics {
			if caller, ok := callers[name]; ok {
				all = append(all, comparison{name: name, operation: t.title(), ours: w.rankJob(s.demo, caller, t), peer: w.rankMPI(t), sizes: one})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(collectives)) {
		for _, t := range operationsOfMPI() {
			all = append(all, comparison{name: name, operation: t.title(), ours: w.rankJob(s.demo, "explicit", t), peer: collectives[name](w, t), sizes: one})
		}
	}
	all = append(all, w.oneSided(s.demo)...)
	return slices.DeleteFunc(all, func(c comparison) bool { return !slices.Contains(s.only, c.name) })
}

// compareAll runs the comparisons, with the progress on errs and the result on out.
func compareAll(ctx context.Context, s settings, out, errs io.Writer) error {
	w, err := newWorkshop()
	if err != nil {
		return err
	}
	defer w.remove()
	cpus, err := usableCPUs()
	if err != nil {
		return err
	}
	d := document{
		Experiment: "peers",
		Machine:    thisMachine(),
		Parameters: map[string]any{"reps": s.reps, "iters": s.iters, "engine": s.engine, "control": s.control, "reuse": s.reuse, "cpus": cpus[:min(2, len(cpus))]},
		Rows:       []jsonRow{},
		Skipped:    []skipped{},
	}
	probe := w.probe()
	for _, c := range s.comparisons(w) {
		if s.control {
			c.ours = c.peer
			c.ours.name = "the peer again"
		}
		if why, err := s.prepare(ctx, c, probe, cpus); err != nil {
			return err
		} else if why != "" {
			// The operations of one peer mostly lack the same.
			if missing := (skipped{c.name, why}); !slices.Contains(d.Skipped, missing) {
				d.Skipped = append(d.Skipped, missing)
			}
			continue
		}
		for _, size := range c.sizes {
			name := c.title(size)
			fmt.Fprintln(errs, name)
			rows, err := compare(ctx, c, probe, size, s.reps, s.measure(c, probe, cpus))
			switch {
			case errors.Is(err, errSlow):
				d.Skipped = append(d.Skipped, skipped{name, err.Error()})
			case err != nil: // what was measured until now is not lost
				return errors.Join(s.write(d, out), err)
			case len(rows) == 0:
				d.Skipped = append(d.Skipped, skipped{name,
					fmt.Sprintf("the machine changed its regime in each of %d pairs: try again when it is quieter", 3*s.reps)})
			}
			for _, r := range rows {
				d.Rows = append(d.Rows, c.json(r))
				if !c.oneCPU {
					d.Machine.Probe = r.probe
				}
			}
		}
	}
	return s.write(d, out)
}

// prepare builds what c needs. why is not empty if something is missing.
func (s settings) prepare(ctx context.Context, c comparison, probe program, cpus []int) (why string, err error) {
	if !c.oneCPU && len(cpus) < 2 {
		return fmt.Sprintf("needs two CPUs, this process may use %v only", cpus), nil
	}
	for _, p := range []program{probe, c.peer, c.ours} {
		switch err := p.build(ctx); {
		case errors.Is(err, errMissing):
			return err.Error(), nil
		case err != nil:
			return "", err
		}
	}
	return "", nil
}

// measure runs the programs of c where they belong.
func (s settings) measure(c comparison, probe program, cpus []int) measure {
	where := [2]int{cpus[0], cpus[0]}
	if !c.oneCPU {
		where[1] = cpus[1]
	}
	return func(ctx context.Context, p program, size int) (figure, error) {
		iters := s.iters
		if iters == 0 || p.name == probe.name {
			iters = repetitions(size * max(c.window, 1))
		}
		return run(ctx, p, size, iters, where)
	}
}

func (s settings) write(d document, out io.Writer) error {
	if s.file != "" {
		f, err := os.Create(s.file)
		if err != nil {
			return fmt.Errorf("write the JSON: %w", err)
		}
		if err := errors.Join(d.writeJSON(f), f.Close()); err != nil {
			return fmt.Errorf("write the JSON to %s: %w", s.file, err)
		}
	}
	if s.format == "json" {
		return d.writeJSON(out)
	}
	d.writeTable(out)
	return nil
}
