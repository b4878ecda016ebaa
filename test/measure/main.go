package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// An index is what index.json has.
type index struct {
	Began    time.Time       `json:"began"`
	Machine  json.RawMessage `json:"machine"` // as demo describes it, with the commit
	Commands []*entry        `json:"commands"`
}

func main() {
	list := flag.Bool("n", false, "print the commands and the rows that name them, and run nothing")
	out := flag.String("out", "", "`folder` for the outputs; it is made if it is missing")
	only := flag.String("only", "", "run the commands that match this regular `expression`, in any case")
	skip := flag.String("skip", "^$", "but not those that match this `expression`")
	flag.Parse()
	wanted, err := regexp.Compile("(?i)" + *only)
	unwanted, err2 := regexp.Compile("(?i)" + *skip)
	if err = errors.Join(err, err2); err == nil && (flag.NArg() > 0 || !*list && *out == "") {
		err = errors.New("write -out FOLDER, or -n to run nothing; there are only flags, see -help")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, *list, *out, func(e *entry) bool {
		return !wanted.MatchString(e.Command) || unwanted.MatchString(e.Command)
	}); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// measure runs the commands of the pages but for those left out, or lists them.
func measure(ctx context.Context, list bool, out string, leftOut func(*entry) bool) error {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(mod)))
	all, err := commands(root)
	if err != nil {
		return err
	}
	x := index{Began: time.Now(), Commands: slices.DeleteFunc(all, leftOut)}
	if list {
		for _, e := range x.Commands {
			fmt.Printf("%s\n\t%s\n", e.Command, strings.Join(e.Rows, "\n\t"))
		}
		return nil
	}
	b, err := newBench(ctx, root)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	var described struct{ Machine json.RawMessage }
	text, err := b.command(ctx, "demo experiment --format json").Output()
	if err = errors.Join(err, json.Unmarshal(text, &described), os.MkdirAll(out, 0o755)); err != nil {
		return fmt.Errorf("ask demo about the machine: %w", err)
	}
	x.Machine = described.Machine
	failed := 0
	for i, e := range x.Commands {
		fmt.Printf("%d of %d: %s\n", i+1, len(x.Commands), e.Command)
		broken := b.run(ctx, e, out, i+1)
		outcome := fmt.Sprintf("%.1f s, exit status %d, %s", e.Seconds, e.Status, e.File)
		if e.Skipped != "" {
			outcome = "skipped: " + e.Skipped
		}
		fmt.Println("\t" + outcome)
		text, err := json.MarshalIndent(x, "", "  ") // after each: what has run is not lost
		if err = errors.Join(broken, err, os.WriteFile(filepath.Join(out, "index.json"), text, 0o644), ctx.Err()); err != nil {
			return err
		}
		if e.Status != 0 {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d commands failed", failed, len(x.Commands))
	}
	return nil
}

// A bench is where commands run: the module, and a folder with its demo.
type bench struct {
	root, dir string
	env       []string
}

// newBench builds demo as go build does by itself. No test of a command comes out of the cache.
func newBench(ctx context.Context, root string) (*bench, error) {
	dir, err := os.MkdirTemp("", "pm2-measure-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for demo: %w", err)
	}
	b := &bench{root, dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "GOFLAGS="+os.Getenv("GOFLAGS")+" -count=1")}
	if out, err := b.command(ctx, "go build -o "+dir+"/demo ./cmd/demo").CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("build cmd/demo: %w\n%s", err, out)
	}
	return b, nil
}

var (
	argobotsDir   = regexp.MustCompile(`\bDIR\b`)
	unsafeInNames = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

// command is a line of a page, for the shell. It leads a process group, which ends with ctx.
func (b *bench) command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", argobotsDir.ReplaceAllLiteralString(line, `"$ARGOBOTS"`))
	cmd.Dir, cmd.Env = b.root, b.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run runs e, with its output in a file of the folder out. A command that fails says so in its entry, and is no error.
func (b *bench) run(ctx context.Context, e *entry, out string, number int) error {
	if argobotsDir.MatchString(e.Command) && os.Getenv("ARGOBOTS") == "" {
		e.Skipped = "the variable ARGOBOTS does not say where Argobots is installed"
		return nil
	}
	e.File = fmt.Sprintf("%02d-%s.txt", number, strings.Trim(unsafeInNames.ReplaceAllString(e.Command, "-"), "-"))
	f, err := os.Create(filepath.Join(out, e.File))
	if err != nil {
		return fmt.Errorf("keep the output: %w", err)
	}
	defer f.Close()
	cmd := b.command(ctx, e.Command)
	cmd.Stdout, cmd.Stderr = f, f
	began := time.Now()
	err = cmd.Run()
	e.Seconds = time.Since(began).Seconds()
	if cmd.ProcessState == nil {
		return err
	}
	e.Status = cmd.ProcessState.ExitCode()
	return nil
}
