package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/cmd/demo/internal/bench"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/nas"
	"github.com/pm2-go/pm2/cmd/demo/internal/pingpong"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/size"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/driver"
)

// commands is the one table of the command line: kong makes from it the parser, the checks, the defaults and --help.
type commands struct {
	Run             runCommand             `cmd:"" group:"Start programs" help:"Start a program of your own as the processes of a job, on this host or on several."`
	ExplainStart    explainStartCommand    `cmd:"" group:"Start programs" help:"Say what has started this process, and where the others of its job are."`
	Pingpong        pingpongCommand        `cmd:"" group:"Measure" help:"Exchange verified messages between two processes: latency, bandwidth."`
	Bench           benchCommand           `cmd:"" group:"Measure" help:"Measure threads, synchronization and the progress engine beside goroutines."`
	Trace           traceCommand           `cmd:"" group:"Look inside" help:"Record what threads and messages do as a timeline, for Perfetto, and draw it."`
	Fairness        fairnessCommand        `cmd:"" group:"Measure" help:"Measure how late a thread runs on a VP whose CPU it shares with threads that never yield."`
	Experiment      experimentCommand      `cmd:"" group:"Measure" help:"Reproduce an experiment of the papers by its name, such as E16, and draw its graph."`
	Nas             nasCommand             `cmd:"" group:"Measure" help:"Run a kernel of the NAS Parallel Benchmarks over nmad/mpi, as a process of a job or alone, and verify its result."`
	Tune            tuneCommand            `cmd:"" group:"Measure" help:"Measure, as the processes of a job, from how many bytes on collective operations of nmad/mpi go another way, and say why."`
	ExplainProgress explainProgressCommand `cmd:"" group:"Look inside" help:"Say what is polled by which thread, where, how often, and why: the progress engine on this or on a synthetic machine."`
	ExplainProtocol explainProtocolCommand `cmd:"" group:"Look inside" help:"Show which protocol messages of which size take over which network, and why."`
	Topo            topoCommand            `cmd:"" group:"Look inside" help:"Show and draw this machine, a synthetic or a recorded one: CPUs, and what they share."`
	Top             topCommand             `cmd:"" group:"Look inside" help:"Watch what the VPs of a process do, as top does for processes."`
	Version         versionCommand         `cmd:"" group:"Help" help:"Say which version this is, and what it was built with."`
	Help            helpCommand            `cmd:"" group:"Help" help:"Explain a command, as its --help does."`

	VersionFlag versionFlag `name:"version" help:"Say which version this is."`
}

// Types of flags; kong shows their names in --help.
type (
	file     string
	hostPort string
	pattern  string
)

// width is the flag of commands whose lines may be long.
type width struct {
	Wide bool `help:"Fold nothing at ${columns} columns, and leave none out."`
}

// fit folds a text to 100 columns, unless --wide was given.
func (wd width) fit(text string) string {
	if wd.Wide {
		return text
	}
	return report.Fit(text)
}

// output are the flags that every experiment has.
type output struct {
	Format string `enum:"${formats}" default:"table" help:"What to write to stdout: ${enum}."`
	width
	Plot file `help:"Draw the results, too: a file named .svg or .png."`

	figure *figure.File // claimed by Validate
}

// Validate claims the figure's file.
func (o *output) Validate() (err error) {
	if o.Plot != "" {
		if o.figure, err = figure.Claim(string(o.Plot)); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	return nil
}

// check returns an error if the folder of a file that a flag names takes no new files: so a run fails before anything
// is measured, not after.
func (f file) check(flag string) error {
	if err := unix.Access(filepath.Dir(string(f)), unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("%s %s: %w: choose a folder that exists and is writable", flag, f, err)
	}
	if info, err := os.Stat(string(f)); err == nil && info.IsDir() {
		return fmt.Errorf("%s %s: that is a directory; name a file in it", flag, f)
	}
	return nil
}

// check returns what is wrong with an address that was given for a flag. An empty one is right.
func (a hostPort) check(flag string) error {
	if a == "" {
		return nil
	}
	if _, port, err := net.SplitHostPort(string(a)); err != nil || port == "" {
		return fmt.Errorf("%s %s: write HOST:PORT, such as 127.0.0.1:7070", flag, a)
	}
	return nil
}

type pingpongCommand struct {
	Driver        string           `default:"shm" help:"Network to use: ${drivers}, or several with commas: a rail each."`
	Sizes         size.List        `default:"1:4M" sep:"none" help:"Sizes of the messages in bytes: a list 1,8,4K, or a range 1:64K, which doubles."`
	Iters         int              `default:"10000" help:"Exchanges of each size up to 8K; fewer of larger."`
	Warmup        int              `help:"Exchanges before those that count, for every size; 0: a tenth of those."`
	Threads       int              `default:"1" help:"Pairs of threads at once."`
	Window        int              `help:"Messages under way at once, one way: bandwidth, not latency. 0: one, there and back."`
	Bidirectional bool             `help:"Send messages, or windows, both ways at once."`
	Loan          bool             `help:"Use buffers of the gate: shm copies none."`
	Touch         bool             `help:"Count the time to write and read every byte."`
	Engine        string           `enum:"hooks,explicit,threads,none" default:"hooks" help:"What polls besides the waiter: beside threads the hooks, or nothing (explicit); beside goroutines OS threads, or none."`
	Caller        string           `enum:",thread,goroutine,locked,c" default:"" placeholder:"CALLER" help:"What calls: thread, goroutine, locked or c."`
	Offset        pingpong.Offsets `placeholder:"N[:N]" help:"Where in a page buffers begin, in bytes."`
	Vary          []string         `placeholder:"HOW" help:"plain: new requests; fresh: new buffers; busy Ps."`
	Listen        hostPort         `help:"Where rank 0 waits for rank 1. Default: loopback."`
	output
	progressFlags
}

// Help is the long text of --help.
func (*pingpongCommand) Help() string {
	return "Starts a second process, binds each of the two to one CPU, and exchanges messages through nmad. Both check every byte, " +
		"outside of the time. Latency is half a round trip; bandwidth is size / median in 10^6 B/s; the probe is one cache line, one way. " +
		"With --window 64 rank 0 starts 64 sends, and rank 1 answers when it has them all; a time is then that of the window, divided by 64.\n\n" +
		engineFlags + "Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted."
}

// Validate implements kong's check after parsing.
func (c *pingpongCommand) Validate() error {
	if _, err := driver.LookupAll(c.Driver); err != nil {
		return fmt.Errorf("--driver: %w", err)
	}
	if err := c.Listen.check("--listen"); err != nil {
		return err
	}
	o := c.options()
	if err := o.Validate(); err != nil {
		return err
	}
	if err := c.progressFlags.export(); err != nil {
		return err
	}
	return c.output.Validate()
}

func (c *pingpongCommand) options() pingpong.Options {
	return pingpong.Options{
		Driver: c.Driver, Engine: c.Engine, Iters: c.Iters, Warmup: c.Warmup, Threads: c.Threads, Window: c.Window, Both: c.Bidirectional, Loan: c.Loan, Touch: c.Touch, Sizes: c.Sizes, Caller: c.Caller, Vary: c.Vary, Offset: c.Offset, Listen: string(c.Listen),
	}
}

type benchCommand struct {
	Rows   pattern       `help:"Measure only the rows whose names match this regular expression, such as 'yield|semaphore', or have this text in them; '.' also measures those that take long."`
	Reps   int           `default:"7" help:"Repetitions of each row, ours and peer in turn; at least ${leastReps}."`
	Time   time.Duration `default:"20ms" help:"How long one repetition lasts, 1ms to 10s."`
	List   bool          `help:"Print the names of the rows that would be measured, and measure nothing."`
	Format string        `enum:"${benchFormats}" default:"table" help:"What to write to stdout: ${enum}; go is for benchstat, a line for each repetition."`
	width
	Plot file `help:"Draw the results, too: a file named .svg or .png."`
	progressFlags

	output output             `kong:"-"` // made by Validate
	rows   []bench.Experiment // chosen by Validate
	heavy  []string           // left out
}

// Help is the long text of --help.
func (*benchCommand) Help() string {
	return "Each row measures ours on a scheduler with one VP or two, and in turns, in the same run, the peer: goroutines with as " +
		"many Ps. It shows medians with quartiles; the ratio is ours / peer, lower is better. A row that crosses cores compares " +
		"only figures that were taken while a cache line took about as long between them (the probe). Rows that cannot be measured here are listed with the reason. Rows whose names begin with 'program' are whole programs.\n\n" +
		engineFlags + "Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted."
}

// Validate implements kong's check after parsing.
func (c *benchCommand) Validate() error {
	if c.Reps < bench.LeastReps || c.Reps > 1000 {
		return fmt.Errorf("--reps %d: choose from %d to 1000 repetitions", c.Reps, bench.LeastReps)
	}
	if c.Time < time.Millisecond || c.Time > 10*time.Second {
		return fmt.Errorf("--time %v: choose from 1ms to 10s", c.Time)
	}
	all := bench.All()
	wanted, err := regexp.Compile(string(c.Rows))
	if err == nil {
		c.choose(all, wanted.MatchString)
	}
	if len(c.rows) == 0 { // spawn+join is a name, and no expression for it
		c.choose(all, func(name string) bool { return strings.Contains(name, string(c.Rows)) })
	}
	switch {
	case len(c.rows) == 0 && err != nil:
		return fmt.Errorf("--rows %q is no regular expression (%w): write a part of a name, such as yield", c.Rows, err)
	case len(c.rows) == 0:
		return choiceError{fmt.Sprintf("--rows %q matches no row; there are:", c.Rows), bench.Names(all)}
	}
	if c.List && c.Plot != "" {
		return errors.New("--list: what is not measured cannot be drawn; leave out --plot")
	}
	if err := c.progressFlags.export(); err != nil {
		return err
	}
	c.output = output{Format: c.Format, Plot: c.Plot, width: c.width}
	return c.output.Validate()
}

// choose takes the rows whose names match what is wanted.
func (c *benchCommand) choose(all []bench.Experiment, wanted func(name string) bool) {
	for _, x := range all {
		switch {
		case !wanted(x.Name):
		case x.Heavy && c.Rows == "":
			if name := x.Group(); !slices.Contains(c.heavy, name) {
				c.heavy = append(c.heavy, name)
			}
		default:
			c.rows = append(c.rows, x)
		}
	}
}

// choiceError is followed by what there is to choose from, a line each.
type choiceError struct {
	text    string
	choices []string
}

func (e choiceError) Error() string { return e.text }

// statusError ends with an exit status of its own.
type statusError struct {
	error
	status int
}

// toldError ends this process with the exit status of another process of ours, which has written the reason itself.
type toldError struct{ status int }

func (toldError) Error() string { return "another process has said why" }

func (e statusError) Unwrap() error { return e.error }

// usageError is what exit status 2 stands for.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// parse reads the command line. --help prints and calls exit(0).
func parse(args []string, exit func(int)) (any, error) {
	var table commands
	shown := slices.Contains(args, helpEngine)
	if shown {
		args = append(slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == helpEngine }), "--help")
	}
	table.ExplainProgress.progressFlags = newProgressFlags(shown)
	table.Pingpong.progressFlags = newProgressFlags(shown, "flavour") // it has --engine
	table.Bench.progressFlags = newProgressFlags(shown, "flavour")    // its rows say what polls
	parser, err := kong.New(&table,
		kong.Name("demo"),
		kong.Description("The laboratory of pm2: it starts programs as jobs, and measures threads, progress engine and messages.\n\nTo begin: demo pingpong; demo run -n 2 -- ./program; demo top. The pages are in docs: docs/howto.md first."),
		kong.Vars{
			"experiments":   experimentNames(),
			"drivers":       strings.Join(driver.Names(), ", "),
			"formats":       strings.Join(report.Formats, ","),
			"benchFormats":  strings.Join(report.BenchmarkFormats, ","),
			"columns":       fmt.Sprint(report.Columns),
			"leastReps":     fmt.Sprint(bench.LeastReps),
			"mostVPs":       fmt.Sprint(mostExplained),
			"strategyHelp":  variableHelp(nmad.EnvStrategy),
			"eagerHelp":     variableHelp(nmad.EnvEager),
			"profileHelp":   variableHelp(nmad.EnvProfile),
			"mostProcesses": fmt.Sprint(mostProcesses),
			"nasClasses":    strings.Join(nas.Classes, ", "),
		},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 110}),
		kong.Exit(exit),
		kong.Help(func(options kong.HelpOptions, ctx *kong.Context) error {
			if x := namedExperiment(ctx); x != nil {
				ctx.Selected().Detail = aboutExperiment(x)
			}
			return kong.DefaultHelpPrinter(options, ctx)
		}),
	)
	if err != nil {
		return nil, err
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		hint := "demo --help"
		if e := (*kong.ParseError)(nil); asParseError(err, &e) && e.Context != nil && e.Context.Command() != "" {
			hint = "demo " + withoutArguments(e.Context.Command()) + " --help"
		}
		text := strings.Join(strings.Fields(err.Error()), " ")
		if c := (choiceError{}); errors.As(err, &c) {
			return nil, usageError{choiceError{text, c.choices}}
		}
		if word, ok := strings.CutPrefix(text, "unexpected argument "); ok && hint == "demo --help" {
			text = "no command is called " + word + ": there are " + strings.Join(commandNames(parser), ", ")
		}
		return nil, usageError{fmt.Errorf("%s (see %s)", text, hint)}
	}
	switch ctx.Command() {
	case "experiment", "experiment <name>":
		return table.Experiment.run, nil
	case "run <program>":
		return &table.Run, nil
	case "pingpong":
		return &table.Pingpong, nil
	case "top":
		return table.Top.run, nil
	case "trace work":
		return table.Trace.runWork, nil
	case "trace pingpong":
		return table.Trace.runPingpong, nil
	case "trace merge <files>":
		return table.Trace.runMerge, nil
	case "bench":
		return &table.Bench, nil
	case "nas <kernel>":
		return table.Nas.run, nil
	case "tune":
		return table.Tune.run, nil
	case "explain-progress":
		return table.ExplainProgress.run, nil
	case "fairness":
		return table.Fairness.run, nil
	case "explain-protocol":
		return table.ExplainProtocol.run, nil
	case "explain-start":
		return table.ExplainStart.run, nil
	case "topo":
		return table.Topo.run, nil
	case "version":
		return table.Version.run, nil
	case "help", "help <command>":
		return parse(append(table.Help.Command, "--help"), exit)
	}
	return nil, fmt.Errorf("no command %q", ctx.Command())
}

// commandNames are the names of the commands, in the order of --help.
func commandNames(parser *kong.Kong) (names []string) {
	for _, c := range parser.Model.Children {
		names = append(names, c.Name)
	}
	return names
}

// withoutArguments leaves the <name> of positional arguments out of a command.
func withoutArguments(command string) string {
	name, _, _ := strings.Cut(command, " <")
	return name
}
