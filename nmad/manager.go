package nmad

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/internal/setting"
	"github.com/pm2-go/pm2/nmad/internal/limit"
	"github.com/pm2-go/pm2/nmad/internal/manager"
	"github.com/pm2-go/pm2/nmad/internal/presence"
)

// A process that a process manager has started (mpiexec.hydra, srun, ...) learns its rank when FromEnvironment is
// called first, meets the others in Open, and leaves the manager in Close:
//
//	unknown --- FromEnvironment ---> known --- Open: agree ---> joined --- Close ---> parted
//
// A manager takes a process into its job once: no transition leads back.
type managed struct {
	manager.Manager
	stage managedStage
}

type managedStage uint8

const (
	rankKnown managedStage = iota
	jobJoined
	managerLeft
)

// startedBy is the manager of this process, found once.
var startedBy struct {
	mu    sync.Mutex
	found chan struct{} // closed once the fields below are known; nil before findManager was started
	m     *managed      // nil if this process has no manager
	err   error
}

const (
	// openLimit is how long the manager may take to say which rank a process is.
	openLimit = 30 * time.Second
	// meetLimit is how long a process waits for all others to be started, unless Config.Timeout says otherwise: a
	// cluster takes its time, and its manager ends the job if one of them fails.
	meetLimit = 5 * time.Minute
	// causeLimit is how long a process that fails because it has lost another one leaves it to the manager to end the
	// job with the status of that one: it takes the last word for the cause.
	causeLimit = time.Second
	// endGrace is how long a process may take to end when its manager has gone.
	endGrace = 3 * time.Second
)

// managerOf returns the manager of this process, and connects to it in the first call; nil if it has none. If ctx ends
// first, the connecting goes on, and the next call returns its result.
func managerOf(ctx context.Context) (*managed, error) {
	by := &startedBy
	by.mu.Lock()
	if by.found == nil {
		by.found = make(chan struct{})
		go findManager()
	}
	found := by.found
	by.mu.Unlock()
	select {
	case <-found:
		return by.m, by.err
	case <-ctx.Done():
		return nil, fmt.Errorf("nmad: wait for the process manager: %w", context.Cause(ctx))
	}
}

// findManager connects to the manager, and publishes the result in startedBy.
func findManager() {
	by := &startedBy
	defer close(by.found)
	ctx, stop := limit.Context(context.Background(), openLimit)
	defer stop()
	m, err := manager.Open(ctx)
	switch {
	case err != nil:
		by.err = fmt.Errorf("nmad: %w: %w", ErrConfig, err)
	case m != nil:
		by.m = &managed{Manager: m}
		go by.m.follow()
	}
}

// follow ends this process when its manager has gone, because then the job has ended. The end of our launcher does the
// same.
func (mg *managed) follow() {
	<-mg.Gone()
	fmt.Fprintf(os.Stderr, "nmad: rank %d: the process manager has gone (%s): this process ends\n", mg.Rank(), mg.Name())
	self, err := os.FindProcess(os.Getpid())
	if err == nil && self.Signal(syscall.SIGTERM) == nil {
		time.Sleep(endGrace) // for what the program does at its end
	}
	os.Exit(128 + int(syscall.SIGTERM))
}

// stepTo moves on to a stage from the one before it.
func (mg *managed) stepTo(stage managedStage) error {
	startedBy.mu.Lock()
	defer startedBy.mu.Unlock()
	if mg.stage != stage-1 {
		return fmt.Errorf("nmad: %w: %s takes a process into its job once, and this one has joined already", ErrConfig, mg.Name())
	}
	mg.stage = stage
	return nil
}

// meet agrees with the other processes of the job, by the manager, on where they meet. It fills in what the user has
// not set.
func (cfg *Config) meet(ctx context.Context) error {
	m := cfg.manager
	if err := m.stepTo(jobJoined); err != nil || cfg.Size == 1 {
		return err
	}
	most := cfg.Timeout
	if most <= 0 {
		most = meetLimit
	}
	ctx, stop := limit.Context(ctx, most)
	defer stop()
	meeting, err := manager.Agree(ctx, m, os.Getenv(EnvIface))
	if err != nil {
		return fmt.Errorf("nmad: rank %d of %d: %w", cfg.Rank, cfg.Size, err)
	}
	cfg.Rendezvous, cfg.Listener, cfg.Secret = meeting.Addr, meeting.Listener, meeting.Secret
	cfg.hosts = meeting.Nodes
	cfg.bind, _, _ = net.SplitHostPort(meeting.Listen[0])
	cfg.chooseRails(meeting)
	return nil
}

// meetByName finds rank 0 of an indexed job by its name. Unless the user has set Listen, it also finds the address of
// this host at which the others reach this process. Each process counts as on a host of its own.
func (cfg *Config) meetByName(ctx context.Context) error {
	if err := cfg.check(); err != nil {
		return err // a wrong configuration: waiting for rank 0 would not help
	}
	cfg.startTimeout = cmp.Or(cfg.Timeout, meetLimit)
	ctx, stop := limit.Context(ctx, cfg.startTimeout)
	defer stop()
	host, l, err := manager.MeetByName(ctx, cfg.Rank, cfg.Rendezvous, os.Getenv(EnvIface))
	if err != nil {
		return fmt.Errorf("nmad: rank %d of %d: %w", cfg.Rank, cfg.Size, err)
	}
	cfg.bind, cfg.Listener, cfg.hosts = host, l, make([]int, cfg.Size)
	for rank := range cfg.hosts {
		cfg.hosts[rank] = rank
	}
	if cfg.Listen == "" {
		cfg.Listen = net.JoinHostPort(host, "0")
	}
	return nil
}

// chooseRails sets Driver and Listen, unless the user has. If no two processes share a host, there is one rail over
// each network that all hosts share. Otherwise there is one rail: the fastest driver within a host, and the first
// network between hosts.
func (cfg *Config) chooseRails(meeting *manager.Meeting) {
	custom := cfg.Custom != nil || cfg.Rails != nil
	if cfg.Driver == "" && !custom && meeting.OnePerHost() && len(meeting.Listen) > 1 {
		cfg.Driver = strings.TrimSuffix(strings.Repeat("tcp,", len(meeting.Listen)), ",")
	}
	if cfg.Listen == "" && !custom {
		n := 1 + strings.Count(cfg.Driver, ",")
		rails := make([]string, n)
		for i := range rails {
			rails[i] = meeting.Listen[i%len(meeting.Listen)]
		}
		cfg.Listen = strings.Join(rails, ",")
	}
}

// Abort ends the whole job with an exit status. It tells the process manager, if there is one, and ends this process;
// our launcher then ends the others, as for any process that fails. why is written to standard error. Only the low 8
// bits of status count; if they are 0, the status is 1. Abort does not return.
func (s *Session) Abort(status int, why string) {
	if status&0xff == 0 {
		status = 1
	}
	rank := s.Rank()
	fmt.Fprintf(os.Stderr, "nmad: rank %d aborts the job with status %d: %s\n", rank, status, why)
	if s.valid() && s.cfg.manager != nil {
		if s.peerLost.Load() {
			time.Sleep(causeLimit)
		}
		if err := s.cfg.manager.Abort(status, why); err != nil {
			fmt.Fprintln(os.Stderr, "nmad:", err)
		}
	}
	os.Exit(status)
}

// finalize tells the manager that this process is done with it.
func (mg *managed) finalize() error {
	if err := mg.stepTo(managerLeft); err != nil {
		return nil // another session has done it
	}
	ctx, stop := limit.Context(context.Background(), openLimit)
	defer stop()
	if err := mg.Finalize(ctx); err != nil {
		return fmt.Errorf("nmad: rank %d: %w", mg.Rank(), err)
	}
	return nil
}

// program is the result of Session.Program, which is found once.
type program struct {
	once   sync.Once
	number int
	known  bool
}

// Program returns which program of the job's command line this process runs, as its launcher or its process manager
// tells; the first one is 0. known is false if neither tells. The first call may block until the process manager
// answers.
func (s *Session) Program() (number int, known bool) {
	if !s.valid() {
		return 0, false
	}
	s.program.once.Do(func() {
		offThread(func() { s.program.number, s.program.known = s.cfg.findProgram() })
	})
	return s.program.number, s.program.known
}

// findProgram asks for the result of Session.Program.
func (cfg *Config) findProgram() (number int, known bool) {
	if cfg.manager == nil {
		number, err := setting.Number(os.Getenv(EnvProgram))
		return number, err == nil && cfg.fromEnv != nil
	}
	m, ok := cfg.manager.Manager.(manager.Programs)
	if !ok {
		return 0, false
	}
	ctx, stop := limit.Context(context.Background(), openLimit)
	defer stop()
	number, err := m.Program(ctx)
	return number, err == nil
}

// toLauncher is the pipe by which this process tells its launcher the stage of its session. mu guards it.
var toLauncher struct {
	mu     sync.Mutex
	teller *presence.Teller // nil if the launcher has given no pipe
}

// toldPresence returns the pipe that EnvPresenceFD names, which it takes over, and takes out of the environment, in the
// first call.
func toldPresence() (*presence.Teller, error) {
	to := &toLauncher
	to.mu.Lock()
	defer to.mu.Unlock()
	text := os.Getenv(EnvPresenceFD)
	if text == "" {
		return to.teller, nil
	}
	teller, err := presence.Inherit(text)
	if err != nil {
		return nil, fmt.Errorf("nmad: %w: %s=%q: %v", ErrConfig, EnvPresenceFD, text, err)
	}
	to.teller = teller
	return teller, os.Unsetenv(EnvPresenceFD)
}

// Launcher says what has started this process, as far as its environment tells.
type Launcher struct {
	Name    string   // "alone", "the launcher of pm2", "PMI 1.1", ...
	Managed bool     // by a process manager, or Kubernetes: Join meets the others through it, or by a name
	Found   []string // the variables that show it, as "NAME=value"; empty for "alone"
	Lack    string   // what keeps Join from working, and what to do about it; "" if nothing does
}

// FindLauncher finds out what has started this process, from the environment alone.
func FindLauncher() Launcher {
	f := manager.Find(os.Getenv)
	return Launcher{f.Kind.String(), f.Kind == manager.PMI || f.Kind == manager.PMIx || f.Kind == manager.Indexed, f.By, f.Lack}
}
