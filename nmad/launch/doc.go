// Package launch starts the processes of a job, on this host and through a remote shell on others, and makes sure that
// none of them outlives the job.
//
//	job, err := launch.Start(launch.Spec{N: 4, First: 1, Args: []string{"-quiet"}}) // this program three times more
//	if err != nil {
//		panic(err)
//	}
//	session, err := nmad.Open(context.Background(), job.Config()) // we are rank 0; the others call nmad.Join
//	if err == nil {
//		err = session.Close()
//	}
//	fmt.Println(err, job.Wait()) // names the rank that failed, and how
//
// With First 0 all ranks are new processes and the caller is none of them; with First 1 the caller itself is rank 0.
// The new processes learn their ranks from PM2_* variables (nmad.Environment) and call nmad.Join.
//
//	caller ── helper thread: for each rank: set affinity ─ fork ─ exec
//	   │            │         restores its affinity, and lives on
//	   │            └ reaps; its end, however it comes, kills the children (PDEATHSIG)
//	   └ signals: forwarded to the children's process groups
//
// # Several hosts
//
// With Hosts, each other host's ranks are started by a launcher there ("demo run"), which a remote shell such as ssh
// runs:
//
//	caller ── ssh host2 demo run --ranks 2:2 ... ── its ranks 2 and 3
//	       ── ssh host3 demo run --ranks 4:2 ... ── its ranks 4 and 5
//
// The remote shell's standard input brings the secret, so that it stands in no command line, and is the lifeline:
// however the caller ends, the input ends with it, and the launcher there ends its ranks. Without a remote shell the
// launchers can be started one by one, with Elsewhere, the same rendezvous address and the same Secret.
//
// # Programs of other libraries
//
// With Spec.PMI the children also find a server of PMI 1.1 in their environment (PMI_FD), by which programs of MPI
// libraries such as MPICH find each other. A process that has joined in this way ends the job when it ends without
// finalize (LeaveError), and any process ends it when it aborts (AbortError). Programs makes one job of several
// programs.
//
// # Guarantees
//
// How the processes are started:
//
//   - The job's secret is new and random. Each child reads it from a pipe that it inherits (PM2_SECRET_FD); it stands in no
//     environment and in no command line.
//   - The rendezvous port is open before the first process starts, so no other process can take it.
//   - If there are as many usable processors as processes, each process gets processors of its own, cores kept together.
//     If not, each gets one, which neighbors share, and PM2_SHARED_CPUS=1 tells them so: a scheduler of threads then has
//     one VP. With Spec.Unbound (PM2_UNBOUND) all may use all. If the system forbids binding, Spec.Warn is told once, and
//     the job runs unbound. Start never changes the caller's own affinity.
//
// How they end:
//
//   - When a rank fails, the others get a grace period to notice; then they are terminated, and at last killed. Wait tells
//     about the rank that failed first.
//   - A rank that has joined the job and ends with status 0 without having closed its session, while another one has not
//     closed its own either, is a failure (ExitError.Open); the others go on. The rank itself tells in which of these states
//     it is, by a pipe that it inherits (PM2_PRESENCE_FD).
//   - A child is killed when the caller dies, even by SIGKILL: the kernel sends the signal when the thread that forked the
//     child ends (prctl(2), PR_SET_PDEATHSIG). Hence one OS thread is kept for as long as the children live.
//   - Children have process groups of their own. A Ctrl-C at the terminal reaches the caller alone, which forwards it,
//     waits, and kills what is left, or all at once when a second signal comes. Then the caller can die of the same
//     signal, as shells expect (Spec.Signals, InterruptError.Raise).
//
// What they write:
//
//   - All output is passed on whole, however slow its reader is. A process that a rank has left running may hold the output
//     open, and the job with it, as long as it writes. When it has been silent for Spec.Grace the output is cut, and Wait
//     says so (OutputError); so it is when a writer fails, or a second signal ends the job while the reader takes nothing.
//
// # What a child leaves running
//
// When a child ends, the launcher kills the processes that the child has started in its process group. With Spec.Guard
// a small process beside the job (see guard) kills the others, too, at the latest when the job has ended: processes
// that have left the group, such as daemons and the commands of an interactive shell, and, if the caller is killed,
// also those in the groups. A process that has to outlive a job must leave the group and drop PM2_LAUNCHER from its
// environment:
//
//	env -u PM2_LAUNCHER setsid daemon
//
// If the guard is killed together with the caller, the children die, and the processes that they have started live on.
// To prevent that takes privileges: only some users may make a control group (cgroup) or a name space of processes.
package launch
