package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The suites.
const (
	suiteMPICH = "mpich"
	suiteOSU   = "osu"
)

// standardFolders are those of MPICH's tests that are asked for if none are named.
var standardFolders = []string{"attr", "coll", "comm", "datatype", "errhan", "group", "info", "init", "pt2pt", "rma", "threads", "topo"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := errors.New("write build or run: go doc ./test/mpi shows both")
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "build":
			err = build(ctx, os.Args[2:])
		case "run":
			err = runTests(ctx, os.Args[2:])
		}
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mpi:", err)
		os.Exit(1)
	}
}

// flags are those of both commands.
func flags(name string) (f *flag.FlagSet, suite, folders *string) {
	f = flag.NewFlagSet(name, flag.ContinueOnError)
	suite = f.String("suite", suiteMPICH, "the `suite`: mpich or osu")
	folders = f.String("folders", "", "`folders` of the suite, with commas; empty: for mpich "+strings.Join(standardFolders, ",")+", for osu all")
	return f, suite, folders
}

func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

func checkSuite(suite string, f *flag.FlagSet) error {
	if suite != suiteMPICH && suite != suiteOSU {
		return fmt.Errorf("-suite %s: write mpich or osu", suite)
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: there are only flags, see -help", f.Arg(0))
	}
	return nil
}

func build(ctx context.Context, args []string) error {
	f, suite, folders := flags("build")
	var b builder
	f.StringVar(&b.from, "from", "", "`folder` with the sources of the suite")
	f.StringVar(&b.to, "to", "", "`folder` for its programs; it is made if it is missing")
	f.StringVar(&b.mpicc, "mpicc", "mpicc", "the C `compiler` of the MPI")
	f.IntVar(&b.at, "j", 2, "`compilers` that run at once")
	if err := f.Parse(args); err != nil {
		return err
	}
	if err := checkSuite(*suite, f); err != nil {
		return err
	}
	if b.from == "" || b.to == "" {
		return errors.New("write -from and -to")
	}
	mpicc, err := exec.LookPath(b.mpicc)
	if err != nil {
		return fmt.Errorf("-mpicc: %w", err)
	}
	for _, name := range []*string{&b.from, &b.to, &mpicc} {
		if *name, err = filepath.Abs(*name); err != nil {
			return err
		}
	}
	b.mpicc, b.folders, b.log = mpicc, split(*folders), os.Stdout
	if err := os.MkdirAll(b.to, 0o755); err != nil {
		return err
	}
	if *suite == suiteOSU {
		return b.osu(ctx)
	}
	return b.mpich(ctx)
}

func runTests(ctx context.Context, args []string) error {
	f, suite, folders := flags("run")
	r := runner{progress: os.Stderr}
	f.StringVar(&r.in, "in", "", "`folder` with the programs")
	from := f.String("from", "", "`folder` with the sources of the suite, where lists are that the build did not copy")
	mpiexec := f.String("mpiexec", "mpiexec", "the `launcher`, and arguments of it")
	f.DurationVar(&r.limit, "limit", 3*time.Minute, "how `long` a test may take at most")
	f.IntVar(&r.at, "at-once", 4, "`processes` that may run at once; a test of more is run alone")
	rules := rulebook{seen: map[string]bool{}}
	f.IntVar(&rules.most, "most", 16, "leave out tests of more `processes`")
	f.Float64Var(&rules.memory, "memory", 4, "leave out tests that need more memory, in `GB`")
	f.Float64Var(&rules.standard, "standard", 5, "leave out tests of a later `version` of the standard")
	f.BoolVar(&rules.settings, "settings", false, "run also tests that differ from one before only by settings of MPICH (MPIR_ variables)")
	exclude := f.String("exclude", "", "`file` with tests that are left out: FOLDER/PROGRAM: reason")
	only := f.String("only", "", "run only the tests whose titles have this `text`")
	table := f.String("table", "", "`file` for the table; empty: standard output")
	title := f.String("title", "", "`text` above the table")
	if err := f.Parse(args); err != nil {
		return err
	}
	if err := checkSuite(*suite, f); err != nil {
		return err
	}
	if r.in == "" {
		return errors.New("write -in, the folder with the programs")
	}
	if r.at < 1 || rules.most < 1 || r.limit <= 0 {
		return errors.New("-at-once, -most and -limit: write more than 0")
	}
	var err error
	if r.mpiexec, err = splitCommand(*mpiexec); err != nil {
		return err
	}
	if r.in, err = filepath.Abs(r.in); err != nil {
		return err
	}
	if rules.excluded, err = readExcluded(*exclude); err != nil {
		return fmt.Errorf("-exclude: %w", err)
	}
	r.suite, r.rules = *suite, &rules
	var sources []string
	if *from != "" {
		sources = []string{*from, filepath.Join(*from, "test", "mpi")}
	}
	tests, err := list(*suite, r.in, sources, split(*folders))
	if err != nil {
		return err
	}
	if *only != "" {
		var some []*test
		for _, t := range tests {
			if strings.Contains(t.title(), *only) {
				some = append(some, t)
			}
		}
		tests = some
	}
	if len(tests) == 0 {
		return fmt.Errorf("no tests in %s", r.in)
	}
	results := r.all(ctx, tests)
	if *title == "" {
		*title = fmt.Sprintf("%s, by %s", *suite, *mpiexec)
	}
	if err := writeResults(*table, *title, results); err != nil {
		return err
	}
	if len(results) < len(tests) {
		return fmt.Errorf("interrupted: %d of %d tests are in the table", len(results), len(tests))
	}
	for i := range results {
		if results[i].excluded == "" && results[i].why != "" {
			return errors.New("some tests have failed: the table says which")
		}
	}
	return nil
}

func writeResults(file, title string, results []result) error {
	var w io.Writer = os.Stdout
	if file != "" {
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		defer f.Close()
		w = f
	}
	return writeTable(w, title, results)
}
