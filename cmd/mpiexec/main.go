package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/cmd/internal/launcher"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// sayingTime is how long the last words may take when the output is not read.
const sayingTime = 500 * time.Millisecond

// warningTime is how long a warning may hold the job.
const warningTime = 100 * time.Millisecond

// Exit statuses of mpiexec's own.
const (
	statusUsage   = 2
	statusTimeout = 124 // as timeout(1) has it
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	o, err := parse(args)
	switch {
	case err != nil:
		return say(statusUsage, err)
	case o.version:
		fmt.Println("mpiexec of pm2", version())
		return 0
	case o.wantsHelp:
		if err := help(os.Stdout); err != nil {
			return say(1, err)
		}
		return 0
	}
	// A reader that has gone, such as head, ends the job as a failure does, with its grace period; without a handler
	// the signal would end this process where it is, and the ranks with it.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	if text := os.Getenv("MPIEXEC_TIMEOUT"); text != "" && o.timeout == 0 && o.ranks == nil {
		if o.timeout, err = seconds(text); err != nil {
			return say(statusUsage, fmt.Errorf("MPIEXEC_TIMEOUT=%s: %w", text, err))
		}
	}
	if err := o.settle(); err != nil {
		return say(statusUsage, err)
	}
	spec, err := o.spec()
	if err != nil {
		return say(statusUsage, err)
	}
	var lifeline io.Reader
	var standard input
	if o.ranks != nil {
		in := bufio.NewReader(os.Stdin)
		if spec.Secret, err = launch.ReadSecret(in); err != nil {
			return say(statusUsage, err)
		}
		lifeline = in
	} else {
		if standard, err = standardInput(); err != nil {
			return say(1, err)
		}
		spec.Stdin = standard.file
	}
	style := launcher.Bare
	if o.label {
		style = launcher.Marked
	}
	var late atomic.Bool
	var givenUp <-chan struct{}
	end := launcher.Run(spec, style, lifeline, func(job *launch.Job) {
		standard.started()
		givenUp = job.GivenUp()
		if o.timeout > 0 {
			time.AfterFunc(o.timeout, func() {
				late.Store(true)
				job.Kill()
				time.AfterFunc(sayingTime, job.GiveUp) // of a reader that takes nothing
			})
		}
	})
	select {
	case <-givenUp: // what is said may go to the reader that takes nothing
		status := end.Status
		if late.Load() {
			status = statusTimeout
		}
		time.AfterFunc(sayingTime, func() { os.Exit(status) })
	default:
	}
	if late.Load() && end.Status != 0 {
		return say(statusTimeout, fmt.Errorf("the job was ended: it has taken longer than %v", o.timeout))
	}
	if caught := (*launch.InterruptError)(nil); errors.As(end.Err, &caught) {
		say(end.Status, end.Err)
		caught.Raise()
		return end.Status
	}
	return say(end.Status, end.Err)
}

// say writes an error, if there is one, and returns the status. A process of the job is named with its host.
func say(status int, err error) int {
	if err == nil {
		return status
	}
	where := ""
	exit, aborted, left := (*launch.ExitError)(nil), (*launch.AbortError)(nil), (*launch.LeaveError)(nil)
	if errors.As(err, &exit) && exit.Remote == nil || errors.As(err, &aborted) || errors.As(err, &left) {
		if host, err := os.Hostname(); err == nil {
			where = "on " + host + ": "
		}
	}
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	fmt.Fprintf(os.Stderr, "mpiexec: %s%s\n", where, strings.Join(slices.Compact(lines), "; "))
	return status
}

// warn writes a line, and goes on before it is written if that takes long: the job must end although its output is not
// read.
func warn(text string) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		fmt.Fprintln(os.Stderr, "mpiexec: "+text)
	}()
	select {
	case <-written:
	case <-time.After(warningTime):
	}
}

// version is which one this is, and of which state of the module.
func version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return nmad.Version + " (" + b.Main.Version + ")"
	}
	return nmad.Version
}

// settle makes the settings of the job that -genv has our own, so that those that a launcher goes by, such as
// PM2_HEARTBEAT, reach it.
func (o *options) settle() error {
	for _, v := range o.all.set {
		name, value, _ := strings.Cut(v, "=")
		if slices.Contains(launch.Settings(), name) {
			if err := os.Setenv(name, value); err != nil {
				return fmt.Errorf("-genv %s: %w", v, err)
			}
		}
	}
	return nil
}

// spec is the job.
func (o *options) spec() (launch.Spec, error) {
	s := launch.Spec{
		N: o.size(), Unbound: o.unbound, Signals: true, Guard: true, Grace: max(o.grace, time.Millisecond), PMI: o.ranks == nil,
		Rendezvous: o.meet, Listen: o.listen, Env: o.all.set, Rsh: strings.Fields(o.shell), Remote: o.command,
		Warn: warn,
	}
	if len(o.hosts) > 0 {
		s.Hosts = o.spread()
	}
	if o.ranks != nil {
		s.Elsewhere, s.First, s.Count = true, o.ranks[0], o.ranks[1]
	}
	if len(o.hosts) > 0 {
		dir, err := os.Getwd()
		if err != nil {
			return s, fmt.Errorf("the working directory: %w: choose one by -wdir", err)
		}
		s.Dir = dir // the same there
	}
	for _, x := range o.sections {
		s.Programs = append(s.Programs, launch.Program{N: x.n, Path: x.program[0], Args: x.program[1:], Env: x.vars.set, Dir: x.dir, Inherit: o.inherit(x)})
	}
	s.Path = s.Programs[0].Path
	return s, nil
}

// inherit reports which variables a program gets from here. It returns nil if the program gets all.
func (o *options) inherit(x section) func(name string) bool {
	only := x.vars.only
	if only == nil {
		only = o.all.only
	}
	if only == nil {
		return nil
	}
	return func(name string) bool { return launcher.IsOurs(name) || slices.Contains(only, name) }
}

// command is the command line of the launcher on another host.
func (o *options) command(r launch.Remote) []string {
	name := o.remote
	if name == "" {
		var err error
		if name, err = os.Executable(); err != nil {
			name = "mpiexec"
		}
	}
	words := []string{name, "-ranks", fmt.Sprintf("%d:%d", r.First, r.Count), "-rendezvous", r.Rendezvous, "-listen", r.Listen,
		"-grace", o.grace.String()}
	if o.label {
		words = append(words, "-l")
	}
	if o.unbound {
		words = append(words, "-bind-to", "none")
	}
	for _, v := range slices.Concat(launcher.Forwarded(), named(o.all.only), o.all.set) {
		words = append(words, "-genv", v)
	}
	words = appendOnly(words, "-g", o.all.only)
	dir, _ := os.Getwd() // spec has found it
	for i, x := range o.sections {
		if i > 0 {
			words = append(words, ":")
		}
		words = append(words, "-n", strconv.Itoa(x.n), "-wdir")
		if words = append(words, dir); x.dir != "" {
			words[len(words)-1] = absolute(dir, x.dir)
		}
		for _, v := range slices.Concat(named(x.vars.only), x.vars.set) {
			words = append(words, "-env", v)
		}
		words = appendOnly(words, "-", x.vars.only)
		words = append(append(words, "--"), x.program...)
	}
	return words
}

// appendOnly says there, too, that a program gets no other variables.
func appendOnly(words []string, prefix string, only []string) []string {
	switch {
	case only == nil:
		return words
	case len(only) == 0:
		return append(words, prefix+"envnone")
	}
	return append(words, prefix+"envlist", strings.Join(only, ","))
}

// named are variables of ours, NAME=value, by their names.
func named(names []string) (set []string) {
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			set = append(set, name+"="+value)
		}
	}
	return set
}
