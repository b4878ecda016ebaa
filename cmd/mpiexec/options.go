package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pm2-go/pm2/cmd/internal/launcher"
	"github.com/pm2-go/pm2/nmad/launch"
)

// options are the command line.
type options struct {
	hosts     []launch.Host
	ppn       int
	label     bool
	unbound   bool
	timeout   time.Duration
	grace     time.Duration
	remote    string // what this program is called on other hosts; "": as here
	shell     string // what runs a command there; "": ssh
	all       variables
	sections  []section
	ranks     *[2]int // what is to be started of the job of another launcher: the first rank, and how many
	meet      string  // where rank 0 of that job listens
	listen    string
	version   bool
	wantsHelp bool
}

// section is a program of the command line, and what is its own.
type section struct {
	n       int
	dir     string
	vars    variables
	program []string
}

// variables are what the options say of the environment.
type variables struct {
	set  []string // NAME=value
	only []string // nil: all of ours are handed on
}

// mostProcesses is how many a job may have.
const mostProcesses = 4096

// defaultGrace is how long the others may go on once a process has failed.
const defaultGrace = time.Second

// option is one of the command line, with as many values as its form has words.
type option struct {
	names  []string
	values string // for -help: what follows it
	help   string
	global bool // of the whole job: it stands before the first program
	hidden bool // for a launcher of ours on another host
	apply  func(o *options, s *section, values []string) error
}

// parse reads a command line. mpiexec's users expect options that begin with one dash; two are as good.
func parse(args []string) (*options, error) {
	o := &options{grace: defaultGrace}
	for first := true; ; first = false {
		s := section{n: 1}
		rest, err := o.section(&s, args, first)
		if err != nil || o.wantsHelp || o.version {
			return o, err
		}
		end := slices.Index(rest, ":")
		last := end < 0
		if last {
			end = len(rest)
		}
		if s.program = rest[:end]; len(s.program) == 0 {
			return o, fmt.Errorf("no program in %q: write mpiexec -n 4 ./program (see mpiexec -help)", strings.Join(args, " "))
		}
		if s.program[0] == "" {
			return o, fmt.Errorf("program %d of the command line has an empty name: write mpiexec -n 4 ./program (see mpiexec -help)", len(o.sections)+1)
		}
		o.sections = append(o.sections, s)
		if last {
			return o, o.check()
		}
		args = rest[end+1:]
	}
}

// section reads the options of a program, and returns what begins with its name.
func (o *options) section(s *section, args []string, first bool) (rest []string, err error) {
	table := allOptions()
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		if args[0] == "--" {
			return args[1:], nil
		}
		word := strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-")
		name, value, joined := strings.Cut(word, "=")
		at := slices.IndexFunc(table, func(x option) bool { return slices.Contains(x.names, name) })
		if at < 0 {
			return nil, fmt.Errorf("unknown option %s: see mpiexec -help; a program of that name goes after --", args[0])
		}
		x := table[at]
		if x.global && !first {
			return nil, fmt.Errorf("%s is for all programs: write it before the first one", args[0])
		}
		wanted := len(strings.Fields(x.values))
		var values []string
		if args = args[1:]; joined && wanted > 0 {
			values = []string{value}
		} else if joined {
			return nil, fmt.Errorf("-%s takes no value", name)
		}
		for len(values) < wanted {
			if len(values) == 1 && strings.Contains(values[0], "=") { // -env NAME=VALUE
				break
			}
			if len(args) == 0 {
				return nil, fmt.Errorf("-%s: write -%s %s", name, name, x.values)
			}
			values, args = append(values, args[0]), args[1:]
		}
		if err := x.apply(o, s, values); err != nil {
			return nil, fmt.Errorf("-%s %s: %w", name, strings.Join(values, " "), err)
		}
	}
	return args, nil
}

// check finds what is wrong with the options together.
func (o *options) check() error {
	if o.size() > mostProcesses {
		return fmt.Errorf("%d processes: at most %d", o.size(), mostProcesses)
	}
	if len(o.hosts) == 0 {
		switch {
		case o.ppn > 0:
			return errors.New("-ppn: give -hosts as well; on one host all processes are on it")
		case o.remote != "":
			return errors.New("-remote: give -hosts as well; no other host runs anything")
		case o.shell != "":
			return errors.New("-launcher-exec: give -hosts as well; no other host runs anything")
		}
	}
	if o.ranks != nil && (o.meet == "" || len(o.hosts) > 0) {
		return errors.New("-ranks: give -rendezvous as well, and no hosts")
	}
	return nil
}

// size is how many processes the job has.
func (o *options) size() (n int) {
	for _, s := range o.sections {
		n += s.n
	}
	return n
}

// number reads a number of processes, at least low.
func number(text string, low int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > mostProcesses {
		return 0, fmt.Errorf("write a number from %d to %d", low, mostProcesses)
	}
	return n, nil
}

// seconds reads a time: a number of seconds, or a duration such as 500ms.
func seconds(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if n, wrong := strconv.ParseFloat(text, 64); wrong == nil && n <= math.MaxInt32 {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || d < 0 {
		return 0, errors.New("write seconds, such as 60, or a duration, such as 500ms")
	}
	return d, nil
}

// setOne takes NAME and VALUE, or NAME=VALUE.
func (v *variables) setOne(values []string) error {
	name, value, _ := strings.Cut(values[0], "=")
	if len(values) == 2 {
		name, value = values[0], values[1]
	}
	if name == "" {
		return errors.New("write the name of a variable")
	}
	if launcher.IsTold(name) {
		return errors.New("the launcher sets it")
	}
	v.set = append(v.set, name+"="+value)
	return nil
}

// list takes names with commas.
func (v *variables) list(text string) error {
	v.only = append([]string{}, v.only...)
	for name := range strings.SplitSeq(text, ",") {
		if name == "" || strings.Contains(name, "=") {
			return errors.New("write names of variables with commas, such as PATH,HOME")
		}
		v.only = append(v.only, name)
	}
	return nil
}

// readHosts takes names with commas, each perhaps with how many processes it takes.
func (o *options) readHosts(text string) error {
	lines := strings.ReplaceAll(text, ",", "\n")
	hosts, err := launch.ReadHosts(strings.NewReader(lines))
	if err != nil {
		return fmt.Errorf("write names with commas, such as node1,node2:4: %w", err)
	}
	o.hosts = hosts
	return nil
}

func (o *options) readHostFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	o.hosts, err = launch.ReadHosts(strings.NewReader(string(text)))
	return err
}

// spread says how many processes each host takes: -ppn, or as many as it says itself and as often as it is named; if
// there are more processes, they are dealt out in turns of so many. The ranks of a host follow one another.
func (o *options) spread() []launch.Host {
	hosts := slices.Clone(o.hosts)
	for i := range hosts {
		hosts[i].Slots = 0
	}
	for left := o.size(); left > 0; {
		for i, h := range o.hosts {
			n := h.Slots
			if o.ppn > 0 {
				n = o.ppn
			}
			n = min(n, left)
			hosts[i].Slots += n
			left -= n
		}
	}
	return slices.DeleteFunc(hosts, func(h launch.Host) bool { return h.Slots == 0 })
}
