// Package manager connects a process to the process manager that has started it, such as hydra, Slurm's srun or a PMIx
// server. Find tells from the environment what has started the process. Open connects to the manager. Agree lets the
// processes of a job agree on where they meet and on the job's secret, through the manager's key space.
//
//	found in the environment              Kind     what tells rank and size       what the job shares
//	PM2_RANK or PM2_SIZE                  Ours     our launcher                   the secret, by a descriptor
//	JOB_COMPLETION_INDEX, PM2_SIZE        Indexed  Kubernetes, and its user       the name of rank 0, a file with the secret
//	PMI_FD, or PMI_PORT and PMI_ID        PMI      hydra, Slurm's srun, Flux      a key space, PMI 1.1
//	PMIX_NAMESPACE, PMIX_RANK             PMIx     Open MPI's, and other servers  a key space, by libpmix
//	variables of Slurm, Flux or Open MPI  Mute     nothing: a manager without a   nothing: Open fails, and says how the
//	alone, and several processes                   key space                      user gets a key space
//	none of these                         Alone    nothing: one process           nothing
//
// A Manager is the connection of one process to its process manager. All processes of a job call Agree once, before
// they know each other:
//
//	one rank of each host   puts the networks of its host           ── fence ──
//	rank 0                  gets those of all hosts, keeps the networks that all hosts have, listens there,
//	                        puts its address, the networks and a new random key      ── fence ──
//	each other rank         gets what rank 0 has put
//
// A job on one host leaves out the first fence. A job of N processes on H hosts, H > 1, needs two barriers of all
// processes, H+1 puts, and N+H-2 gets: rank 0 makes H-1, and each other rank one. With PMI 1.1 each process makes one
// get more, in Open: it asks where the ranks are. A barrier carries what was put to every host, so the manager answers
// a get on the host of the rank that asks.
//
// A Server is the manager's side of PMI 1.1, for a launcher that starts programs of other libraries.
//
// # Guarantees
//
// The secret is made of the random key, the name of the key space and the size of the job. So the key of one job is of
// no use in another one. The secret is in no command line, no file and no environment. Only the processes of the job,
// their manager, and other processes of the same user can learn it.
//
// This package checks everything that a manager sends, as it checks all that comes from a socket: a line has at most
// [maxLineBytes] bytes, an answer belongs to the command that was sent, a number lies in its range. Each failure is an
// [Error], which says which manager was asked for what, and what came instead.
package manager
