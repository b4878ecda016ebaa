package layers

// MaxLines is the longest a source file may be, in lines. A file that long holds two nouns.
const MaxLines = 600

// made are the files that a program writes, of whatever length.
var made = map[string]bool{"nmad/mpi/abi/front/calls_gen.h": true, "nmad/mpi/abi/include/mpi_functions_gen.h": true, "nmad/mpi/abi/table_gen.go": true}

// A rule says what the packages of one folder, and of the folders below it, may import outside their tests. The rule
// with the longest matching folder wins. A folder may always import what lies below it.
type rule struct {
	folder  string
	ours    []string            // folders of this module; each stands for what lies below it too
	theirs  []string            // modules of other people
	inFiles map[string][]string // more folders of ours, for the files whose names match a pattern
}

const (
	cpuid = "github.com/klauspost/cpuid/v2"
	sys   = "golang.org/x/sys"
	ghw   = "github.com/jaypipes/ghw"
)

// rules has one entry per room. Package trees that no entry covers are not allowed to exist.
var rules = []rule{
	{folder: "asm", theirs: []string{cpuid, sys}},
	{folder: "hooks"},
	// What only tests use, of any room.
	{folder: "internal/test", ours: []string{"internal/test", "pioman", "marcel", "sched", "hooks"}, theirs: []string{sys}},
	// What runs again and again, but never twice at once, is in one of these states.
	{folder: "internal/serial", ours: []string{"asm"}},
	{folder: "internal/spelling"},
	// Which functions are for packages of this module alone.
	{folder: "internal/ours"},
	// The kinds of values of environment variables are the same for all.
	{folder: "internal/setting"},
	{folder: "internal/kernel", theirs: []string{sys}},
	// What a build elsewhere ends with.
	{folder: "internal/linux"},
	// Containers that several rooms share.
	{folder: "internal/shelf", ours: []string{"asm"}},
	{folder: "sched/topo/crosscheck", ours: []string{"sched/topo"}, theirs: []string{ghw}},
	{folder: "sched/topo", ours: []string{"internal/kernel", "asm"}, theirs: []string{sys, ghw}},
	// Rooms above the scheduler: it calls them through interfaces of its own.
	{folder: "sched/place", ours: []string{"sched"}},
	{folder: "sched/observe", ours: []string{"sched", "asm"}},
	{folder: "sched/vpset", ours: []string{"sched/topo"}},
	// What the scheduler stands on, without lock or clock of its.
	{folder: "sched/internal/machine", ours: []string{"sched/topo"}, theirs: []string{sys}},
	{folder: "sched", ours: []string{"hooks", "internal/kernel", "internal/ours", "internal/setting", "internal/shelf", "asm"}, theirs: []string{sys}},
	{folder: "tasklet", ours: []string{"internal/serial", "sched", "hooks", "asm"}, theirs: []string{sys}},
	{folder: "marcel", ours: []string{"internal/ours", "internal/shelf", "sched", "hooks", "asm"}, theirs: []string{sys}},
	// What the environment of a program asks for is any of the views.
	{folder: "marcel/view", ours: []string{"marcel/monitor", "marcel/timeline", "sched"}},
	{
		folder:  "pioman",
		ours:    []string{"hooks", "sched", "asm", "internal/ours", "internal/serial", "internal/shelf", "internal/kernel", "internal/linux", "internal/setting", "internal/spelling"},
		theirs:  []string{sys},
		inFiles: map[string][]string{"thread*.go": {"marcel"}},
	},
	{folder: "pioman/io", ours: []string{"pioman", "marcel", "internal/kernel", "internal/shelf"}, theirs: []string{sys}},
	// A driver knows the layers below the library, never the library: the core can then be tested without any network,
	// and a driver without the core. What both sides of a handshake bound their patience with knows neither. Memory
	// that processes share knows the errors of drivers.
	{folder: "nmad/driver", ours: []string{"nmad/driver", "internal/linux", "internal/kernel", "internal/spelling", "nmad/internal/lane", "nmad/internal/limit", "nmad/internal/meet", "nmad/internal/mapped", "nmad/internal/process", "pioman", "marcel", "sched/topo", "asm"}, theirs: []string{sys}},
	// The suite of all drivers asks how much to do.
	{folder: "nmad/driver/drivertest", ours: []string{"nmad/driver", "internal/linux", "nmad/internal/limit", "nmad/internal/meet", "nmad/internal/mapped", "nmad/internal/process", "pioman", "marcel", "sched/topo", "asm", "internal/test/effort", "internal/test/orphans"}, theirs: []string{sys}},
	{folder: "nmad/internal/limit"},
	// What the library for C reads and writes of a gate and its link.
	{folder: "nmad/internal/lane"},
	// Which numbers of contexts the packages over nmad reserve, for all of them.
	{folder: "nmad/internal/contexts"},
	// Networks of tests are drivers; proxies know what is said before a link is trusted.
	{folder: "nmad/internal/test", ours: []string{"nmad/driver", "nmad/internal/meet"}, theirs: []string{sys}},
	// How two processes come to trust a connection knows the errors of drivers; which processes are there knows that.
	{folder: "nmad/internal/meet", ours: []string{"nmad/driver", "internal/kernel", "nmad/internal/limit"}, theirs: []string{sys}},
	{folder: "nmad/internal/roster", ours: []string{"nmad/internal/meet", "nmad/driver", "internal/kernel", "nmad/internal/limit", "nmad/internal/process"}, theirs: []string{sys}},
	{folder: "nmad/internal/cpus", ours: []string{"sched/topo"}},
	{folder: "nmad/internal/process", ours: []string{"internal/kernel", "asm"}, theirs: []string{sys}},
	{folder: "nmad/internal/mapped", ours: []string{"internal/linux", "nmad/driver"}, theirs: []string{sys}},
	// What a launcher has told of the secret is as long as the roster wants it.
	{folder: "nmad/internal/secret", ours: []string{"internal/setting", "nmad/internal/roster"}, theirs: []string{sys}},
	// A waiter for a lock lets others run.
	{folder: "nmad/internal/lock", ours: []string{"internal/kernel", "marcel", "asm"}},
	// Agreements are pure: a state machine, and its messages. So are the list of free parts of a memory, and the choice
	// of rails by size.
	{folder: "nmad/internal/consensus", ours: []string{"nmad/internal/contexts"}},
	{folder: "nmad/internal/firstfit"},
	{folder: "nmad/internal/crossover", ours: []string{"nmad/strategy"}},
	// Matching is pure: it knows no clock, no thread, and its locks are given.
	{folder: "nmad/internal/match", ours: []string{"internal/shelf"}},
	// So are the protocols; of a driver they know headers and capabilities.
	{folder: "nmad/internal/flow", ours: []string{"internal/shelf", "nmad/internal/lane", "nmad/internal/match", "nmad/driver", "nmad/strategy", "asm"}},
	// The library of C is MPI in other words; it joins the job itself.
	{folder: "nmad/mpi/abi", ours: []string{"internal/ours", "nmad", "pioman", "marcel/timeline", "marcel/view", "asm"}, theirs: []string{sys}},
	// How elements lie in memory, and what is computed from them, knows no message.
	{folder: "nmad/mpi/datatype"},
	{folder: "nmad/mpi/reduce", ours: []string{"nmad/mpi/datatype"}},
	// Nor do the plans of collective operations.
	{folder: "nmad/mpi/internal/plan", ours: []string{"nmad/mpi/datatype", "nmad/mpi/reduce"}},
	// Memory that the ranks of a host share is made as that of drivers is.
	{folder: "nmad/mpi/internal/segment", ours: []string{"nmad/driver", "nmad/internal/mapped"}, theirs: []string{sys}},
	// One-sided access stands on what every program sees of nmad, and on memory that processes share.
	{folder: "nmad/rma", ours: []string{"internal/shelf", "nmad", "nmad/driver", "nmad/internal/contexts", "nmad/internal/mapped", "nmad/internal/process", "pioman", "marcel", "asm"}, theirs: []string{sys}},
	// So do active messages, which are messages; long ones go into memory of one-sided access.
	{folder: "nmad/am", ours: []string{"internal/shelf", "nmad", "nmad/rma", "pioman", "marcel", "asm"}},
	// The examples are programs.
	{folder: "nmad/rma/examples", ours: []string{"nmad", "pioman", "marcel"}},
	// MPI sees of nmad what every program does.
	{folder: "nmad/mpi", ours: []string{"internal/ours", "nmad", "pioman", "marcel", "asm"}},
	{
		folder:  "nmad",
		ours:    []string{"nmad", "internal/kernel", "internal/linux", "internal/ours", "internal/setting", "internal/shelf", "pioman", "tasklet", "marcel", "sched/topo", "asm"},
		theirs:  []string{sys},
		inFiles: map[string][]string{"procs.go": {"sched"}},
	},
	{folder: "cmd", ours: []string{""}, theirs: append([]string{sys, ghw}, laboratory...)},
	{folder: "test", ours: []string{""}, theirs: append([]string{sys, ghw}, testOnly...)},
}

// sole are the words that only one room may say, and what the others say in their place: x/sys's sets end at 1,024
// CPUs, on larger machines the kernel refuses them.
var sole = []struct{ word, room, instead string }{
	{"unix.CPUSet", "internal/kernel", "topo.CPUSet"},
	{"unix.SchedGetaffinity(", "internal/kernel", "topo.Affinity"},
	{"unix.SchedSetaffinity(", "internal/kernel", "topo.CPUSet.Bind"},
}

// inits are the files of the library that may have an init function, and what it does. A program that imports a package
// expects none that costs time, starts something, or takes the process over.
var inits = map[string]string{
	"sched/self.go":                   "gives a lock its rank",
	"marcel/view/view.go":             "has the start of the default scheduler read two variables of the environment",
	"nmad/driver/shm/driver.go":       "registers the driver",
	"nmad/driver/tcp/driver.go":       "registers the driver",
	"nmad/driver/unix/driver.go":      "registers the driver",
	"nmad/driver/auto/auto.go":        "registers the driver",
	"nmad/driver/ofi/driver_linux.go": "registers the driver",
	"nmad/driver/ofi/absent.go":       "says why the driver is not there",
	"nmad/driver/fault/driver.go":     "registers the wrapper",
	// Only in a process that a launcher has started under the guard's name, as this very program: of that nothing else
	// is to run.
	"nmad/launch/guard.go": "is the guard, where the process was started as one",
}

// top are the folders that only they themselves may import, whatever else their rules allow; not even test files.
var top = []string{"cmd", "test"}

// support are the folders of what only tests use: test files may import it, what lies under test, and it itself. The
// suite of drivers is for their authors, too.
var support = []string{"internal/test", "nmad/internal/test", "nmad/driver/drivertest"}

// laboratory lists what only cmd may import.
var laboratory = []string{
	"github.com/alecthomas/kong",
	"github.com/HdrHistogram/hdrhistogram-go",
	"github.com/vbauerster/mpb/v8",
	"gonum.org/v1/plot",
}

// testOnly lists what only test files, what is there for them, and the folder test may import.
var testOnly = []string{
	"github.com/anishathalye/porcupine",
	"github.com/google/go-cmp",
	"github.com/rogpeppe/go-internal",
	"go.uber.org/goleak",
	"golang.org/x/net",
	"pgregory.net/rapid",
}
