package contexts

// Library is the last number that nmad itself uses, for messages without a context of their own. A program cannot open
// a context up to it.
const Library = 1

// nmad/mpi: each communicator has two contexts, one for messages and one for collective operations. Each list of processes
// that have windows has a world of nmad/rma, with as many contexts as any.
const (
	FirstCommunicator = Library + 1
	Communicators     = 8000
	PerCommunicator   = 2
	LastCommunicator  = FirstCommunicator + Communicators*PerCommunicator - 1

	FirstWindow  = 20_000
	WindowGroups = 1000
	LastWindow   = FirstWindow + WindowGroups*PerWorld - 1
)

// nmad/rma: the world of all processes of the job.
const (
	FirstWorld = 60_000
	PerWorld   = 5
	LastWorld  = FirstWorld + PerWorld - 1
)

// nmad/am: the world whose configuration names no other context.
const (
	FirstActive = 64_000
	PerActive   = 4
	LastActive  = FirstActive + PerActive - 1
)

// Stall is the context in which the processes tell each other that they wait (docs/environment.md: PM2_STALL).
const Stall = Last

// Last is the highest number: a header of a message has 16 bits for it.
const Last = 1<<16 - 1
