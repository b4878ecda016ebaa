package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// allOptions is the one table of the command line: it is read by it, and -help is made from it.
func allOptions() []option {
	return []option{
		{names: []string{"n", "np"}, values: "N", help: "how many processes run the program; default 1",
			apply: func(_ *options, s *section, v []string) (err error) {
				s.n, err = number(v[0], 1, mostProcesses)
				return err
			}},
		{names: []string{"hosts", "host", "H"}, values: "NAME,NAME:N", global: true, help: "the hosts, each perhaps with how many processes it takes, as NAME:N or by being named N times; the first ranks are on the first one",
			apply: func(o *options, _ *section, v []string) error { return o.readHosts(v[0]) }},
		{names: []string{"f", "hostfile", "machinefile"}, values: "FILE", global: true, help: "a file with a host a line: NAME, NAME:N, or NAME slots=N",
			apply: func(o *options, _ *section, v []string) error { return o.readHostFile(v[0]) }},
		{names: []string{"ppn"}, values: "N", global: true, help: "how many processes a host has; more where they do not fit otherwise",
			apply: func(o *options, _ *section, v []string) (err error) {
				o.ppn, err = number(v[0], 1, mostProcesses)
				return err
			}},
		{names: []string{"env"}, values: "NAME VALUE", help: "sets a variable for this program; also NAME=VALUE",
			apply: func(_ *options, s *section, v []string) error { return s.vars.setOne(v) }},
		{names: []string{"genv"}, values: "NAME VALUE", global: true, help: "the same for all programs",
			apply: func(o *options, _ *section, v []string) error { return o.all.setOne(v) }},
		{names: []string{"envlist"}, values: "NAME,NAME", help: "of our variables this program gets only these, besides PM2_ and PIOM_ ones; on other hosts, too",
			apply: func(_ *options, s *section, v []string) error { return s.vars.list(v[0]) }},
		{names: []string{"genvlist"}, values: "NAME,NAME", global: true, help: "the same for all programs",
			apply: func(o *options, _ *section, v []string) error { return o.all.list(v[0]) }},
		{names: []string{"envnone"}, help: "this program gets none of our variables, except PM2_ and PIOM_ ones",
			apply: func(_ *options, s *section, _ []string) error { s.vars.only = []string{}; return nil }},
		{names: []string{"genvnone"}, global: true, help: "the same for all programs",
			apply: func(o *options, _ *section, _ []string) error { o.all.only = []string{}; return nil }},
		{names: []string{"wdir", "wd"}, values: "FOLDER", help: "where this program runs; default the folder that mpiexec runs in",
			apply: func(_ *options, s *section, v []string) error { s.dir = v[0]; return nil }},
		{names: []string{"l", "prepend-rank"}, global: true, help: "puts the rank before each line, as in [3] text",
			apply: func(o *options, _ *section, _ []string) error { o.label = true; return nil }},
		{names: []string{"bind-to"}, values: "WHERE", global: true, help: "core: each process gets cores of its own, if there are enough, else one that others share, which is the default; none: all may run anywhere",
			apply: func(o *options, _ *section, v []string) error { return o.bind(v[0]) }},
		{names: []string{"timeout"}, values: "SECONDS", global: true, help: "ends the job, with status 124, if it takes longer, whether its output is read or not; so does the variable MPIEXEC_TIMEOUT",
			apply: func(o *options, _ *section, v []string) (err error) {
				o.timeout, err = seconds(v[0])
				return err
			}},
		{names: []string{"grace"}, values: "SECONDS", global: true, help: "how long the others may go on after a process has failed, or after a signal; default 1",
			apply: func(o *options, _ *section, v []string) (err error) {
				o.grace, err = seconds(v[0])
				return err
			}},
		{names: []string{"launcher-exec"}, values: "COMMAND", global: true, help: "what runs a command on another host, as ssh does, which is the default",
			apply: func(o *options, _ *section, v []string) error {
				if o.shell = v[0]; strings.TrimSpace(o.shell) == "" {
					return errors.New("write a command, such as ssh")
				}
				return nil
			}},
		{names: []string{"remote"}, values: "NAME", global: true, help: "what mpiexec is called on the other hosts; default the name of its file here",
			apply: func(o *options, _ *section, v []string) error {
				if o.remote = v[0]; o.remote == "" {
					return errors.New("write the name of a program, such as mpiexec")
				}
				return nil
			}},
		{names: []string{"version", "V"}, global: true, help: "says which version this is",
			apply: func(o *options, _ *section, _ []string) error { o.version = true; return nil }},
		{names: []string{"help", "h"}, global: true, help: "says this",
			apply: func(o *options, _ *section, _ []string) error { o.wantsHelp = true; return nil }},
		{names: []string{"ranks"}, values: "FIRST:COUNT", global: true, hidden: true, apply: func(o *options, _ *section, v []string) error {
			first, count, ok := strings.Cut(v[0], ":")
			a, err1 := number(first, 0, mostProcesses)
			b, err2 := number(count, 1, mostProcesses)
			if !ok {
				err1 = errors.New("write FIRST:COUNT")
			}
			o.ranks = &[2]int{a, b}
			return errors.Join(err1, err2)
		}},
		{names: []string{"rendezvous"}, values: "HOST:PORT", global: true, help: "where rank 0 waits for the others; to be given where it is on another host than mpiexec",
			apply: func(o *options, _ *section, v []string) error { o.meet = v[0]; return nil }},
		{names: []string{"listen"}, values: "ADDRESS", global: true, hidden: true,
			apply: func(o *options, _ *section, v []string) error { o.listen = v[0]; return nil }},
	}
}

func (o *options) bind(where string) error {
	switch where {
	case "core", "none":
		o.unbound = where == "none"
		return nil
	}
	return errors.New("write core or none")
}

// help writes what -help says.
func help(w io.Writer) error {
	text := "mpiexec [options] program [arguments] [: [options] program [arguments]]...\n\n" +
		"Starts programs as the processes of an MPI job. Each : begins another program of the same job, with options of its own.\n\n"
	for _, x := range allOptions() {
		if x.hidden {
			continue
		}
		names := "-" + strings.Join(x.names, ", -")
		if x.values != "" {
			names += " " + x.values
		}
		text += fmt.Sprintf("  %-36s %s\n", names, x.help)
	}
	_, err := io.WriteString(w, text+`
Rank 0 reads the standard input, unless it is on another host. A terminal is read while mpiexec is in the foreground; in the background nothing stops it. What the processes write is passed on in whole lines; one without an end after a tenth of a second.

The exit status is 0 if all processes end with 0; that of the first that fails, which is also what MPI_Abort was given (1 if its last 8 bits are 0), or 128 and the number
of the signal that has killed it; 1 if a process of another MPI library ends with 0, and has not called MPI_Finalize; 124 after a timeout; 127 and 126 if the program is not found, or cannot be run; 2 for a wrong command line. When a process fails the others are ended. SIGINT,
SIGTERM and SIGHUP are passed on and end the job, at once when a second one comes. However mpiexec ends, no process of the job outlives it.

Other hosts get the variables of -env and -genv, of -envlist and -genvlist, and those that begin with PM2_ and PIOM_. Programs of other MPI libraries start
on one host only, by PMI 1.1.
`)
	return err
}
