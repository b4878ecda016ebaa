package contexts

// Library is the last number that nmad itself uses: 0 is for messages of the library, 1 for messages that name no
// context (nmad/internal/flow). A program cannot open these contexts.
const Library = 1

// Numbers of nmad/mpi. Each communicator has two contexts, one for messages and one for collective operations. Each
// group of processes that has windows has a nmad/rma.World, which takes PerWorld contexts.
const (
	FirstCommunicator = Library + 1
	Communicators     = 8000
	PerCommunicator   = 2
	LastCommunicator  = FirstCommunicator + Communicators*PerCommunicator - 1

	FirstWindow  = 20_000
	WindowGroups = 1000
	LastWindow   = FirstWindow + WindowGroups*PerWorld - 1
)

// Numbers of nmad/rma, for the rma.World of all processes of the job.
const (
	FirstWorld = 60_000
	PerWorld   = 5
	LastWorld  = FirstWorld + PerWorld - 1
)

// Numbers of nmad/am, for active messages whose configuration names no other contexts.
const (
	FirstActive = 64_000
	PerActive   = 4
	LastActive  = FirstActive + PerActive - 1
)

// Stall is the context in which processes tell each other that they stall (PM2_STALL in docs/environment.md).
const Stall = Last

// Last is the highest number of a context: the header of a message has 16 bits for it.
const Last = 1<<16 - 1
