package nmad

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/internal/setting"
	"github.com/pm2-go/pm2/nmad/driver/ofi"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/internal/manager"
	"github.com/pm2-go/pm2/nmad/internal/secret"
)

// Names of the environment variables of a job: what the launcher tells its processes, and the settings of the user.
// Environment explains them.
const (
	EnvRank         = "PM2_RANK"
	EnvSize         = "PM2_SIZE"
	EnvRendezvous   = "PM2_RENDEZVOUS"
	EnvRendezvousFD = "PM2_RENDEZVOUS_FD"
	EnvSecret       = secret.Env
	EnvSecretFD     = secret.EnvFD
	EnvSecretFile   = secret.EnvFile
	EnvDriver       = "PM2_DRIVER"
	EnvStrategy     = "PM2_STRATEGY"
	EnvEager        = "PM2_EAGER"
	EnvProfile      = "PM2_PROFILE"
	EnvListen       = "PM2_LISTEN"
	EnvHeartbeat    = "PM2_HEARTBEAT"
	EnvStall        = "PM2_STALL"
	EnvLink         = "PM2_LINK"
	EnvLoans        = "PM2_LOANS"
	EnvIface        = "PM2_IFACE"
	EnvUnbound      = "PM2_UNBOUND"
	EnvPresenceFD   = "PM2_PRESENCE_FD"
	EnvSharedCPUs   = setting.SharedCPUs
	EnvLauncher     = "PM2_LAUNCHER"
	EnvProgram      = "PM2_PROGRAM"
)

// Variable describes an environment variable.
type Variable struct {
	Name, Meaning, Values, Default string

	// Told says that a launcher sets the variable, for one process of one job. The others are settings of the user,
	// which a launcher passes on to all processes.
	Told bool
}

// Environment lists the variables that Join and the drivers read. Help texts are made from it, and
// docs/environment.md is compared with it.
var Environment = []Variable{
	{EnvDriver, "networks between the processes, one rail each", "auto (shm on one host, unix where that does not work, tcp between hosts), shm, tcp, unix, or several with commas: tcp,tcp; in a program built with it, ofi, or ofi:PROVIDER; in one that imports package fault, fault:tcp and so on", DefaultDriver, false},
	{EnvStrategy, "what to make of messages that wait for the network", "aggregation, default, priority, split-balance, split-equal", "default; split-balance with several rails", false},
	{EnvEager, "longest message that is sent without asking the receiver", "bytes, at least 1", "what the network takes in one packet", false},
	{EnvProfile, "what was measured of the networks, for the default of PM2_EAGER, which rail carries the packets, and what each carries of long messages", "file that demo explain-protocol --measure --save has written", "none", false},
	{EnvListen, "where this process accepts links", "host:port; one for all rails, or one for each, with commas", "loopback, any free port", false},
	{EnvIface, "which networks the hosts of a process manager's job, or the pods of an indexed one, use among each other; of the latter the first one", "names of interfaces, or networks, with commas, the preferred one first: eth1,10.0.0.0/8; the same in all processes", "all that all hosts have an address in", false},
	{EnvLink, "when the links between the processes are made", "lazy: when they are first needed; all: when the job starts; the same in all processes", "lazy; all in a job of two", false},
	{EnvHeartbeat, "how long a process may give no sign of life before it is taken for lost", "duration such as 5s, 100ms to 1h; 0: for ever", "0", false},
	{EnvStall, "after how long without a message, and without computing, a job whose processes all wait says for what, on standard error of its lowest rank", "duration such as 10s, 100ms to 1h; 0: never; the same in all processes", "0", false},
	{EnvUnbound, "the processes of a job stay on all processors that they may use; else each that was not bound gets a share of those of its host, or one if they are more than those", "0, 1", "0", false},
	{shm.EnvCopy, "how long messages go through shared memory", "auto; two: through slots, copied twice; single: out of the sender's memory, where the kernel permits it", "auto: what is measured to be faster", false},
	{ofi.EnvProvider, "over which of libfabric's providers the network ofi goes, in a program built with it", "a name that fi_info -l lists, or the beginning of one: verbs, cxi, efa, tcp, shm; the same in all processes", "the best that reaches other hosts, as libfabric says; tcp if there is no better one", false},
	{EnvLoans, "memory of the buffers out of which messages are loaned (Gate.Alloc)", "bytes per peer, 4096 to 17179869184", "67108864", false},
	{EnvRank, "which process of the job this is", "0 to PM2_SIZE-1", "0", true},
	{EnvSize, "how many processes the job has", "1 to 65536", "1", true},
	{EnvRendezvous, "where rank 0 listens while the job starts", "host:port", "none", true},
	{EnvRendezvousFD, "rank 0: descriptor of a socket that listens there already", "descriptor number", "none", true},
	{EnvSecret, "what the processes of the job prove to each other that they know; Join takes it out of the environment", "hexadecimal, at least 32 digits", "none", true},
	{EnvSecretFD, "the same, read from a descriptor to its end: so a launcher tells it, for an environment can be read by others", "descriptor number", "none", true},
	{EnvSecretFile, "the same, in a file that other users cannot read, such as one that Kubernetes mounts", "name of a file", "none", true},
	{EnvPresenceFD, "where a process tells its launcher that it has joined the job, is the only one left, has closed its session; Join takes it out of the environment", "descriptor number", "none", true},
	{EnvSharedCPUs, "other processes use our CPUs, so waits yield; a job finds out itself whether its own processes do", "0, 1", "0", true},
	{EnvProgram, "which program of the command line the process runs, 0 being the first: MPI_APPNUM", "0 to PM2_SIZE-1", "none", true},
	{EnvLauncher, "the mark of the launcher; what bears it ends with the job, also what a process of the job has left running elsewhere", "any text", "none", true},
}

// FromEnvironment makes a Config from the variables that Environment lists. Without PM2_SIZE and PM2_RANK it asks the
// process manager that has started this process (PMI 1.1: mpiexec.hydra, srun, Flux; PMIx: Open MPI's); if there is
// none, the Config is that of a job of one process. In an indexed job of Kubernetes JOB_COMPLETION_INDEX is the rank,
// if there is no PM2_RANK. FromEnvironment takes the job's secret out of the environment, so that processes that this
// one starts do not have it, and remembers the secret for the next call. The variables of drivers are in no Config: a
// driver reads them when it is opened. FromEnvironment may block until the process manager answers. Errors are
// ErrConfig.
func FromEnvironment() (Config, error) { return fromOwnEnvironment(context.Background()) }

// fromOwnEnvironment is FromEnvironment that gives up when ctx ends.
func fromOwnEnvironment(ctx context.Context) (Config, error) {
	c, err := fromEnvironment(os.Getenv, func() ([]byte, error) {
		told, err := secret.Told(ctx)
		return told, secretError(ctx, err)
	})
	if err != nil {
		return c, err
	}
	if c.presence, err = toldPresence(); err != nil {
		return c, err
	}
	m, err := managerOf(ctx)
	if m != nil {
		c.Rank, c.Size, c.manager = m.Rank(), m.Size(), m
	}
	c.fromEnv = identityOf(&c)
	return c, err
}

// fromEnvironment reads the variables by get, and the secret by tell.
func fromEnvironment(get func(string) string, tell func() ([]byte, error)) (Config, error) {
	index := manager.Index(get)
	c := Config{Size: 1, Rendezvous: get(EnvRendezvous), Driver: get(EnvDriver), Listen: get(EnvListen), Strategy: get(EnvStrategy), Profile: get(EnvProfile), Link: get(EnvLink)}
	var err error
	if index != "" {
		c.rankZeroName = c.Rendezvous
	}
	if err = errors.Join(
		readVariable(&c.Rank, EnvRank, get(EnvRank), setting.Number), readVariable(&c.Rank, manager.EnvIndex, index, setting.Number),
		readVariable(&c.Size, EnvSize, get(EnvSize), setting.Number),
		readVariable(&c.Eager, EnvEager, get(EnvEager), setting.Bytes), readVariable(&c.Loans, EnvLoans, get(EnvLoans), setting.Bytes), // complete has the other bounds
		readVariable(&c.Heartbeat, EnvHeartbeat, get(EnvHeartbeat), setting.Duration), readVariable(&c.Stall, EnvStall, get(EnvStall), setting.Duration),
		readVariable(&c.SharedCPUs, EnvSharedCPUs, get(EnvSharedCPUs), setting.Bool), readVariable(&c.Unbound, EnvUnbound, get(EnvUnbound), setting.Bool),
	); err != nil {
		return c, fmt.Errorf("nmad: %w: %w", ErrConfig, err)
	}
	if index != "" && get(EnvSize) == "" {
		return c, fmt.Errorf("nmad: %w: rank %d of an indexed job of Kubernetes, and %s is missing: give the number of its completions", ErrConfig, c.Rank, EnvSize)
	}
	if c.Eager > 0 {
		c.eagerSource = "environment, " + EnvEager
	}
	if c.Secret, err = tell(); err != nil {
		return c, err
	}
	if text := get(EnvRendezvousFD); text != "" && c.Rank == 0 {
		if c.Listener, err = joining.inherit(text); err != nil {
			return c, fmt.Errorf("nmad: %w: %s=%q: %v", ErrConfig, EnvRendezvousFD, text, err)
		}
	}
	return c, nil
}

// readVariable parses the text of a variable into *to, unless the text is empty.
func readVariable[T any](to *T, name, text string, parse func(string) (T, error)) (err error) {
	if text != "" {
		*to, err = setting.Read(name, text, parse)
	}
	return err
}

// ReadSecretFile reads a job's secret, in hexadecimal, from a file. It refuses a file that other users could read or
// change: the file must belong to this user or to root, and only its owner may read it. If it is root's, its group may
// read it, too: so Kubernetes mounts a Secret for a user without privileges (fsGroup).
func ReadSecretFile(name string) ([]byte, error) {
	ctx := context.Background()
	read, err := secret.ReadFile(ctx, name)
	return read, secretError(ctx, err)
}

// secretError turns an error of reading the secret into an ErrConfig, unless ctx has ended.
func secretError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("nmad: %w", err)
	}
	return fmt.Errorf("nmad: %w: %w", ErrConfig, err)
}

// inherited takes over a listening socket that the launcher has opened.
func inherited(text string) (net.Listener, error) {
	fd, err := setting.Descriptor(text)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), EnvRendezvousFD)
	if file == nil {
		return nil, fmt.Errorf("no such descriptor")
	}
	defer file.Close() // FileListener has its own copy
	return kernel.FileListener(file)
}
