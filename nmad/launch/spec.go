package launch

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/roster"
)

// Spec says what to start. N is needed; the zero value of the other fields is usable.
type Spec struct {
	N     int // processes in the job
	First int // first rank to start: 0, or 1 if the caller is rank 0 itself
	Count int // how many to start; default all from First on

	// Elsewhere: rank 0 belongs to another launcher, or is no child of any, and listens at Rendezvous. First may then
	// be any rank.
	Elsewhere bool
	Secret    []byte // the job's; default random. Several launchers need the same

	Path string   // program; default this very executable
	Args []string // its arguments, without its name
	Env  []string // more environment, "NAME=value"
	Dir  string   // its working directory; default ours

	// Programs are what the ranks run, if not all the same: the first ranks the first one. Their numbers add up to N,
	// in a job of several launchers, too.
	Programs []Program

	Stdin *os.File // what rank 0 reads, if it is started on this host; default nothing. The others read nothing

	// PMI has the processes find a server of PMI 1.1 (PMI_FD), so that programs of MPI libraries that know it can be
	// started; their MPI_Abort is an *AbortError, and their going without MPI_Finalize a *LeaveError. It needs a job
	// that this launcher starts alone, on one host: on several hosts the processes find no server.
	PMI bool

	// Settings, for the variables that their comments name (nmad.Environment). A field that is not set is
	// taken from that variable of our own environment; otherwise it goes before it.

	Driver    string        // PM2_DRIVER: the networks
	Listen    string        // PM2_LISTEN: where the processes accept links
	Strategy  string        // PM2_STRATEGY: what to make of messages that wait for the network
	Eager     int           // PM2_EAGER: longest message that is sent without asking, in bytes
	Profile   string        // PM2_PROFILE: file with what was measured of the networks
	Link      string        // PM2_LINK: when the links between the processes are made
	Heartbeat time.Duration // PM2_HEARTBEAT: after how long a silent process is taken for lost; one that is stopped is then killed when the others have ended

	Rendezvous string // where rank 0 is to listen; default loopback, any free port

	// Hosts makes it a job of several hosts, each filled before the next. The ranks of another host are started there
	// by Rsh, which is given the name of the host and one command line, as ssh is; default ssh. The command line is
	// what Remote returns, quoted for a shell. It must start those ranks as a Spec with Elsewhere (or rank 0) would,
	// find the secret, in hexadecimal, in the first line of its standard input, and end them when that input ends.
	Hosts  []Host
	Rsh    []string
	Remote func(Remote) []string

	Stdout func(rank int) io.Writer // where output goes, also that of another host, which is Relayed; default where ours goes
	Stderr func(rank int) io.Writer // likewise

	Unbound bool // PM2_UNBOUND: all processes may use all processors, in place of a share each

	// Signals forwards SIGINT, SIGTERM and SIGHUP to the children, and kills them at once when a second one comes; Wait
	// then returns an *InterruptError. SIGQUIT, SIGUSR1 and SIGUSR2 are passed on, and end nothing by themselves.
	// SIGTSTP stops the children and this process until it is continued, as a shell does it with a job.
	Signals bool

	// Guard starts a small process beside the job, which ends what the children have started and left, also when this
	// process is killed. It is this very program once more, and ends in this package's init.
	Guard bool

	// Grace is how long the children may take: to end after a signal or SIGTERM before they are killed, and to notice
	// the failure of another rank before they get SIGTERM. Processes that a child has left behind may hold its output
	// open in silence for the same time. Default 3 s.
	Grace time.Duration

	Warn func(text string) // told what does not work but matters little; default a line on stderr
}

// Relayed and below are the ranks under which Spec.Stdout and Spec.Stderr are asked for the output of whole hosts,
// Relayed-i for the i-th one that is not ours.
const Relayed = -1

// Remote is the part of a job that one other host is to start.
type Remote struct {
	Host         string
	N            int // processes in the job
	First, Count int // ranks there
	Driver       string
	Rendezvous   string
	Listen       string // an address of that host
}

const defaultGrace = 3 * time.Second

// ErrSpec is a Spec that cannot be started; the text says why.
var ErrSpec = errors.New("wrong specification")

// complete checks the Spec and fills in the defaults.
func (s *Spec) complete() error {
	switch {
	case s.N < 1:
		return fmt.Errorf("launch: %w: %d processes: give at least 1", ErrSpec, s.N)
	case !s.Elsewhere && (s.First < 0 || s.First > 1):
		return fmt.Errorf("launch: %w: first rank %d: give 0, or 1 if the caller is rank 0", ErrSpec, s.First)
	case s.First < 0 || s.Count < 0 || s.First+s.Count > s.N || s.Elsewhere && s.First >= s.N:
		return fmt.Errorf("launch: %w: ranks %d to %d of a job of %d", ErrSpec, s.First, s.First+max(s.Count, 1)-1, s.N)
	case s.Elsewhere && s.First > 0 && port(s.Rendezvous) == "0":
		return fmt.Errorf("launch: %w: rank 0 is elsewhere, and where is not known: give host:port", ErrSpec)
	case s.Eager < 0:
		return fmt.Errorf("launch: %w: eager messages of up to %d bytes: give at least 1", ErrSpec, s.Eager)
	case s.Secret != nil && (len(s.Secret) < roster.MinSecret || len(s.Secret) > roster.MaxSecret):
		return fmt.Errorf("launch: %w: a secret of %d bytes: give %d to %d", ErrSpec, len(s.Secret), roster.MinSecret, roster.MaxSecret)
	case len(s.Hosts) > 0 && (s.First > 0 || s.Count > 0 || s.Elsewhere):
		return fmt.Errorf("launch: %w: with hosts, all ranks are started", ErrSpec)
	case s.PMI && (s.Elsewhere || s.First > 0):
		return fmt.Errorf("launch: %w: PMI is served by the launcher that starts all ranks", ErrSpec)
	}
	if err := s.fromEnvironment(); err != nil {
		return fmt.Errorf("launch: %w: %w", ErrSpec, err)
	}
	if s.Secret == nil {
		s.Secret = make([]byte, 32)
		rand.Read(s.Secret) // never fails
	}
	s.Count = cmp.Or(s.Count, s.N-s.First)
	if len(s.Rsh) == 0 {
		s.Rsh = []string{"ssh"}
	}
	if s.Path == "" {
		path, err := os.Executable()
		if err != nil {
			path, err = ownProgram() // which has no name to be looked at
		}
		if err != nil {
			return fmt.Errorf("launch: find our own program: %w: give Path", err)
		}
		s.Path = path
	}
	if err := s.programs(); err != nil {
		return err
	}
	s.Rendezvous = cmp.Or(s.Rendezvous, "127.0.0.1:0")
	s.Grace = cmp.Or(max(s.Grace, 0), defaultGrace)
	if s.Stdout == nil {
		s.Stdout = func(int) io.Writer { return os.Stdout }
	}
	if s.Stderr == nil {
		s.Stderr = func(int) io.Writer { return os.Stderr }
	}
	if s.Warn == nil {
		s.Warn = func(text string) { fmt.Fprintln(os.Stderr, text) }
	}
	return nil
}

// port returns the port of "host:port"; "0" without one.
func port(address string) string {
	if _, p, err := net.SplitHostPort(address); err == nil && p != "" {
		return p
	}
	return "0"
}

// loopback reports whether all of the addresses, separated by commas, can be reached from this host only.
func loopback(addresses string) bool {
	for a := range strings.SplitSeq(addresses, ",") {
		host, _, err := net.SplitHostPort(a)
		if ip := net.ParseIP(host); err == nil && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// hostName returns the name of this host, for messages of several hosts.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return "this host"
	}
	return name
}
