package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pm2-go/pm2/cmd/internal/launcher"
	"github.com/pm2-go/pm2/internal/setting"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/launch"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// ranks are a part of a job: "FIRST:COUNT".
type ranks struct{ first, count int }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *ranks) UnmarshalText(text []byte) error {
	first, count, ok := strings.Cut(string(text), ":")
	var err1, err2 error
	r.first, err1 = strconv.Atoi(first)
	r.count, err2 = strconv.Atoi(count)
	if !ok || err1 != nil || err2 != nil || r.first < 0 || r.count < 1 {
		return fmt.Errorf("%q: write FIRST:COUNT, such as 2:2 for ranks 2 and 3", text)
	}
	return nil
}

// byteCount is a number of them, at least 1; 0: not given.
type byteCount int

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *byteCount) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return nil // an empty variable is none
	}
	n, err := setting.Bytes(string(text))
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	*b = byteCount(n)
	return nil
}

// heartbeat is a duration; 0: none.
type heartbeat time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *heartbeat) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return nil // an empty variable is none
	}
	d, err := setting.Duration(string(text))
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	*h = heartbeat(d)
	return nil
}

// variableHelp is the help text of a flag that goes before an environment variable of nmad.
func variableHelp(name string) string {
	i := slices.IndexFunc(nmad.Environment, func(v nmad.Variable) bool { return v.Name == name })
	v := nmad.Environment[i]
	return strings.ToUpper(v.Meaning[:1]) + v.Meaning[1:] + ": " + v.Values + ". Default: " + v.Default + "."
}

// mostProcesses is how many a job may have.
const mostProcesses = 4096

type runCommand struct {
	Processes  int           `short:"n" default:"2" help:"Processes of the job, 1 to ${mostProcesses}; -np says the same."`
	Driver     string        `env:"PM2_DRIVER" help:"Network between them: ${drivers}, or several with commas, such as tcp,tcp: a rail each. Default: auto, which is shm on one host, unix where that does not work, and tcp between hosts."`
	Hosts      string        `type:"existingfile" help:"File that names the hosts, one a line: NAME slots=N. Each is filled before the next."`
	Rsh        string        `default:"ssh" help:"Command that runs a command line on another host, as ssh does, and its arguments, separated by spaces."`
	Demo       string        `default:"demo" help:"What this program is called on the other hosts."`
	Rendezvous hostPort      `help:"Where rank 0 waits for the others. Default: its host's address, any free port."`
	Listen     hostPort      `env:"PM2_LISTEN" help:"Where the processes of this host accept links; with several rails also an address for each, with commas. Default: loopback, and with several hosts the address named for this one; any free port."`
	Ranks      *ranks        `help:"Start only these ranks of the job; other launchers start the others, with the same --rendezvous and --secret-file."`
	SecretFile file          `help:"File with the job's secret, of mode 600: 32 hexadecimal digits or more. - reads the first line of the standard input, and ends the job when that input ends."`
	Strategy   string        `env:"PM2_STRATEGY" placeholder:"NAME" help:"${strategyHelp}"`
	Eager      byteCount     `env:"PM2_EAGER" placeholder:"BYTES" help:"${eagerHelp}"`
	Profile    string        `env:"PM2_PROFILE" placeholder:"FILE" help:"${profileHelp} Each host looks for it by this name."`
	Link       string        `env:"PM2_LINK" enum:",lazy,all" default:"" help:"When the links between the processes are made: when they are first needed (lazy), or all when the job starts (all), which then fails if one cannot be made. Default: lazy; all in a job of two."`
	Heartbeat  heartbeat     `env:"PM2_HEARTBEAT" placeholder:"DURATION" help:"After how long without a sign of life a process is taken for lost: 100ms to 1h. One that was stopped is killed, after the grace period, when all others have ended. Default: never."`
	Export     []string      `short:"x" sep:"none" placeholder:"NAME[=VALUE]" help:"Give all processes this variable, on this host and on others; without a value the one that it has here. May be repeated."`
	Dir        string        `placeholder:"DIR" help:"Working directory of all processes, on each host. Default: this one."`
	Unbound    bool          `env:"PM2_UNBOUND" help:"Do not bind the processes to CPUs."`
	Plain      bool          `help:"Do not put the rank in front of each line of output."`
	Grace      time.Duration `default:"3s" help:"How long the others may go on after one has failed, or after a signal; and how long what a process has left running may keep its output open without a word."`
	Args       []string      `arg:"" name:"program" passthrough:"" help:"The program and its arguments; -- may stand before them."`

	exported []string // what Export says, with values
}

// Help is the long text of --help.
func (*runCommand) Help() string {
	return "Examples:\n\n    demo run -n 4 -- ./program -v                     four processes on this host\n" +
		"    demo run -n 8 --hosts FILE -- /path/to/program    on several hosts, over ssh\n\n" +
		"The processes find each other through PM2_* variables, which nmad.Join reads. Each is bound to CPUs of its own if its host has " +
		"enough, else to one that others share. When one process fails, this launcher ends the others, and names the one that failed.\n\n" +
		"All that the processes write is passed on, however slow its reader is. Only if a process that one of them has left running keeps " +
		"the output open, and is silent for the grace period, the output is cut: that is a failure.\n\n" +
		"SIGINT, SIGTERM and SIGHUP are passed on and end the job, by force after the grace period, or when a second one comes. SIGQUIT, " +
		"SIGUSR1 and SIGUSR2 are passed on; at SIGQUIT (Ctrl-\\) each process writes what its threads wait for.\n\n" +
		"No process that the job has started outlives this launcher, however it ends, also none in the " +
		"background: if the launcher is killed, a second small process, pm2-guard, sees to that. Two kinds of processes may live on: one that has " +
		"left its rank's process group and has dropped PM2_LAUNCHER from its environment; and, if launcher and guard are killed at " +
		"the same time, those that the processes of the job have started.\n\n" +
		"The processes run in the working directory of this launcher, which must exist on each host, and with its environment. On other hosts they " +
		"have the environment that the remote shell sets there, and from here all variables whose names begin with PM2_ or PIOM_, and those of " +
		"--export. These stand in the command line of the launcher there, which others can see. A flag takes precedence over its variable. " +
		"docs/environment.md lists the variables.\n\n" +
		"The secret of the job stands in no command line: other hosts get it through the input of the remote shell. Connections between " +
		"hosts are authenticated when they are made, and not encrypted.\n\n" +
		"Exit status: 0 if all processes ended with 0; else that of the first that failed, or 128+N if signal N killed it; 127 if the program is not found, 126 if it cannot be run; " +
		"2 wrong usage. It is 1 if the end of the output is lost; if a process has joined the job and ended with 0 without " +
		"having closed its session (Session.Close), while another one had not either; and if the job cannot be started, or " +
		"ends with the launcher that asked for it. A signal that ends the job also ends this launcher: 128+N in a shell."
}

// Validate implements kong's check after parsing.
func (c *runCommand) Validate() error {
	if len(c.Args) > 0 && c.Args[0] != "--" && strings.HasPrefix(c.Args[0], "-") {
		return fmt.Errorf("unknown flag %s; a program of that name goes after --", c.Args[0])
	}
	if c.Processes > mostProcesses {
		return fmt.Errorf("--processes %d: choose from 1 to %d", c.Processes, mostProcesses)
	}
	if c.Driver != "" {
		if _, err := driver.LookupAll(c.Driver); err != nil {
			return fmt.Errorf("--driver: %w", err)
		}
	}
	if c.Strategy != "" {
		if _, err := strategy.Lookup(c.Strategy); err != nil {
			return fmt.Errorf("--strategy: %w", err)
		}
	}
	if c.Profile != "" && c.Hosts == "" {
		if _, err := nmad.LoadProfile(c.Profile); err != nil {
			return fmt.Errorf("--profile: %w", err)
		}
	}
	if err := c.Rendezvous.check("--rendezvous"); err != nil {
		return err
	}
	for a := range strings.SplitSeq(string(c.Listen), ",") {
		if err := hostPort(a).check("--listen"); err != nil {
			return err
		}
	}
	if c.Grace < 0 || c.Grace > time.Hour {
		return fmt.Errorf("--grace %v: choose from 0s to 1h", c.Grace)
	}
	if h := time.Duration(c.Heartbeat); h != 0 && (h < 100*time.Millisecond || h > time.Hour) {
		return fmt.Errorf("--heartbeat %v: choose from 100ms to 1h", h)
	}
	if c.Ranks != nil && (c.Rendezvous == "" || c.SecretFile == "") {
		return fmt.Errorf("--ranks: give --rendezvous and --secret-file as well, the same to all launchers of the job")
	}
	if _, err := c.exports(); err != nil {
		return err
	}
	if c.Ranks != nil && c.Hosts != "" {
		return fmt.Errorf("--ranks and --hosts exclude each other")
	}
	return nil
}

// program is what is to be started, without the -- that may stand before it.
func (c *runCommand) program() []string {
	if len(c.Args) > 0 && c.Args[0] == "--" {
		return c.Args[1:]
	}
	return c.Args
}

// run starts the job and waits for its end.
func (c *runCommand) run() error {
	words := c.program()
	if len(words) == 0 {
		return usageError{errors.New("no program given (see demo run --help)")}
	}
	spec := launch.Spec{
		N: c.Processes, Path: words[0], Args: words[1:],
		Driver: c.Driver, Rendezvous: string(c.Rendezvous), Listen: string(c.Listen),
		Strategy: c.Strategy, Eager: int(c.Eager), Profile: c.Profile,
		Link: c.Link, Heartbeat: time.Duration(c.Heartbeat), Dir: c.Dir, Unbound: c.Unbound, Signals: true, Guard: true, Grace: c.Grace,
		Warn: func(text string) { warn("%s", text) },
		Rsh:  strings.Fields(c.Rsh), Remote: c.remote,
	}
	if err := c.environment(&spec); err != nil {
		return err
	}
	if err := c.hosts(&spec); err != nil {
		return err
	}
	lifeline, err := c.secret(&spec)
	if err != nil {
		return err
	}
	if r := c.Ranks; r != nil {
		spec.Elsewhere, spec.First, spec.Count = true, r.first, r.count
	}
	style := launcher.Marked
	if c.Plain {
		style = launcher.Raw
	}
	switch end := launcher.Run(spec, style, lifeline, nil); {
	case end.Usage:
		return usageError{end.Err}
	case end.Err != nil:
		return statusError{end.Err, end.Status}
	case end.Status != 0:
		return toldError{end.Status}
	}
	return nil
}

// hosts reads the host file.
func (c *runCommand) hosts(spec *launch.Spec) error {
	if c.Hosts == "" {
		return nil
	}
	file, err := os.Open(c.Hosts)
	if err != nil {
		return fmt.Errorf("--hosts: %w", err)
	}
	defer file.Close()
	if spec.Hosts, err = launch.ReadHosts(file); err != nil {
		return usageError{fmt.Errorf("--hosts %s: %w", c.Hosts, err)}
	}
	return nil
}

// secret reads the job's secret; lifeline is what the job ends with.
func (c *runCommand) secret(spec *launch.Spec) (lifeline io.Reader, err error) {
	switch c.SecretFile {
	case "":
		return nil, nil
	case "-":
	default:
		if spec.Secret, err = nmad.ReadSecretFile(string(c.SecretFile)); err != nil {
			return nil, usageError{fmt.Errorf("--secret-file: %w", err)}
		}
		return nil, nil
	}
	r := bufio.NewReader(os.Stdin)
	if spec.Secret, err = launch.ReadSecret(r); err != nil {
		return nil, usageError{fmt.Errorf("--secret-file %s: %w", c.SecretFile, err)}
	}
	return r, nil
}

// remote is the command line of the launcher on another host.
func (c *runCommand) remote(r launch.Remote) []string {
	words := []string{c.Demo, "run",
		"-n", strconv.Itoa(r.N), "--ranks", fmt.Sprintf("%d:%d", r.First, r.Count), "--secret-file", "-",
		"--driver", r.Driver, "--rendezvous", r.Rendezvous, "--listen", r.Listen, "--grace", c.Grace.String(),
	}
	if c.Strategy != "" {
		words = append(words, "--strategy", c.Strategy)
	}
	if c.Eager != 0 {
		words = append(words, "--eager", strconv.Itoa(int(c.Eager)))
	}
	if c.Profile != "" {
		words = append(words, "--profile", c.Profile)
	}
	if c.Link != "" {
		words = append(words, "--link", c.Link)
	}
	if c.Heartbeat != 0 {
		words = append(words, "--heartbeat", time.Duration(c.Heartbeat).String())
	}
	if c.Unbound {
		words = append(words, "--unbound")
	}
	if c.Plain {
		words = append(words, "--plain")
	}
	words = append(words, "--dir", c.Dir)
	for _, v := range slices.Concat(launcher.Forwarded(), c.exported) {
		words = append(words, "--export", v)
	}
	return append(append(words, "--"), c.program()...)
}
