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
		{names: []string{"n", "np"}, values: "N", help: "how many processes run the program; default: 1",
			apply: func(_ *options, s *section, v []string) (err error) {
				s.n, err = number(v[0], 1)
				return err
			}},
		{names: []string{"hosts", "host", "H"}, values: "NAME,NAME:N", global: true, help: "the hosts. NAME:N, or a name that is given N times, takes N processes. The first ranks are on the first host",
			apply: func(o *options, _ *section, v []string) error { return o.readHosts(v[0]) }},
		{names: []string{"f", "hostfile", "machinefile"}, values: "FILE", global: true, help: "a file with a host a line: NAME, NAME:N, or NAME slots=N",
			apply: func(o *options, _ *section, v []string) error { return o.readHostFile(v[0]) }},
		{names: []string{"ppn"}, values: "N", global: true, help: "how many processes a host has; more where they do not fit otherwise",
			apply: func(o *options, _ *section, v []string) (err error) {
				o.ppn, err = number(v[0], 1)
				return err
			}},
		{names: []string{"env"}, values: "NAME VALUE", help: "sets a variable for this program; also NAME=VALUE",
			apply: func(_ *options, s *section, v []string) error { return s.vars.setOne(v) }},
		{names: []string{"genv"}, values: "NAME VALUE", global: true, help: "the same for all programs",
			apply: func(o *options, _ *section, v []string) error { return o.all.setOne(v) }},
		{names: []string{"envlist"}, values: "NAME,NAME", help: "of the variables of mpiexec this program gets only these, besides those that begin with PM2_ and PIOM_; on other hosts, too",
			apply: func(_ *options, s *section, v []string) error { return s.vars.list(v[0]) }},
		{names: []string{"genvlist"}, values: "NAME,NAME", global: true, help: "the same for all programs",
			apply: func(o *options, _ *section, v []string) error { return o.all.list(v[0]) }},
		{names: []string{"envnone"}, help: "this program gets none of the variables of mpiexec, but those that begin with PM2_ and PIOM_",
			apply: func(_ *options, s *section, _ []string) error { s.vars.only = []string{}; return nil }},
		{names: []string{"genvnone"}, global: true, help: "the same for all programs",
			apply: func(o *options, _ *section, _ []string) error { o.all.only = []string{}; return nil }},
		{names: []string{"wdir", "wd"}, values: "FOLDER", help: "where this program runs; default: the folder in which mpiexec runs",
			apply: func(_ *options, s *section, v []string) error { s.dir = v[0]; return nil }},
		{names: []string{"l", "prepend-rank"}, global: true, help: "puts the rank before each line, as in [3] text",
			apply: func(o *options, _ *section, _ []string) error { o.label = true; return nil }},
		{names: []string{"bind-to"}, values: "WHERE", global: true, help: "core (the default): each process gets cores of its own, if there are enough, else one that others share; none: all may run anywhere",
			apply: func(o *options, _ *section, v []string) error { return o.bind(v[0]) }},
		{names: []string{"timeout"}, values: "SECONDS", global: true, help: "ends the job, with status 124, if it takes longer, whether its output is read or not; so does the variable MPIEXEC_TIMEOUT",
			apply: func(o *options, _ *section, v []string) (err error) {
				o.timeout, err = seconds(v[0])
				return err
			}},
		{names: []string{"grace"}, values: "SECONDS", global: true, help: "how long the others may go on after a process has failed, or after a signal; default: 1",
			apply: func(o *options, _ *section, v []string) (err error) {
				o.grace, err = seconds(v[0])
				return err
			}},
		{names: []string{"launcher-exec"}, values: "COMMAND", global: true, help: "what runs a command on another host; default: ssh",
			apply: func(o *options, _ *section, v []string) error {
				if o.shell = v[0]; strings.TrimSpace(o.shell) == "" {
					return errors.New("write a command, such as ssh")
				}
				return nil
			}},
		{names: []string{"remote"}, values: "NAME", global: true, help: "what mpiexec is called on the other hosts; default: the name of its file here",
			apply: func(o *options, _ *section, v []string) error {
				if o.remote = v[0]; o.remote == "" {
					return errors.New("write the name of a program, such as mpiexec")
				}
				return nil
			}},
		{names: []string{"version", "V"}, global: true, help: "prints the version",
			apply: func(o *options, _ *section, _ []string) error { o.version = true; return nil }},
		{names: []string{"help", "h"}, global: true, help: "prints this text",
			apply: func(o *options, _ *section, _ []string) error { o.wantsHelp = true; return nil }},
		{names: []string{"ranks"}, values: "FIRST:COUNT", global: true, hidden: true, apply: func(o *options, _ *section, v []string) error {
			first, count, ok := strings.Cut(v[0], ":")
			a, err1 := number(first, 0)
			b, err2 := number(count, 1)
			if !ok {
				err1 = errors.New("write FIRST:COUNT")
			}
			o.ranks = &[2]int{a, b}
			return errors.Join(err1, err2)
		}},
		{names: []string{"rendezvous"}, values: "HOST:PORT", global: true, help: "where rank 0 waits for the others; needed if rank 0 is on another host than mpiexec",
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
	const texts = 28 // columns before the texts of options
	text := "Usage: mpiexec [options] program [arguments] [: [options] program [arguments]]...\n\n" +
		fold("Starts programs as the processes of an MPI job. Each : begins another program of the same job, with options of its own.", 0) + "\n"
	for _, x := range allOptions() {
		if x.hidden {
			continue
		}
		names := "  -" + strings.Join(x.names, ", -")
		if x.values != "" {
			names += " " + x.values
		}
		if len(names) >= texts {
			text += names + "\n" + strings.Repeat(" ", texts) + fold(x.help, texts)
		} else {
			text += fmt.Sprintf("%-*s%s", texts, names, fold(x.help, texts))
		}
	}
	for _, paragraph := range []string{
		"Rank 0 reads the standard input, unless it is on another host. mpiexec reads a terminal while it is in the foreground; in the background nothing stops it. It passes on whole lines of what the processes write; a line without an end follows after a tenth of a second.",
		"Exit status: 0 if all processes end with 0. Else that of the first process that fails, which is also what MPI_Abort was given (1 if its last 8 bits are 0), or 128 and the number of the signal that has killed it. 1 if a process of another MPI library ends with 0, and has not called MPI_Finalize; 124 after a timeout; 127 if the program is not found, and 126 if it cannot be run; 2 for a wrong command line.",
		"When a process fails, mpiexec ends the others. It passes SIGINT, SIGTERM and SIGHUP on, and they end the job, at once when a second one comes. However mpiexec ends, no process of the job outlives it.",
		"Other hosts get the variables of -env and -genv, of -envlist and -genvlist, and those that begin with PM2_ and PIOM_. Programs of other MPI libraries start on one host only, by PMI 1.1.",
	} {
		text += "\n" + fold(paragraph, 0)
	}
	_, err := io.WriteString(w, text)
	return err
}

// fold breaks a text between its words into lines that end before column 80. The first line begins at the column
// indent, and the others are indented so far.
func fold(text string, indent int) string {
	var b strings.Builder
	at := indent
	for i, word := range strings.Fields(text) {
		switch {
		case i > 0 && at+1+len(word) > 79:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		case i > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	b.WriteByte('\n')
	return b.String()
}
