// Package manager is the seam to what starts the processes of a job: it finds out what that is, and
// lets the processes agree on where they meet and on the job's secret, by the key space that the process
// managers of clusters have.
//
//	found in the environment              Kind     what tells rank and size       what the job shares
//	PM2_RANK or PM2_SIZE                  Ours     our launcher                   the secret, by a descriptor
//	JOB_COMPLETION_INDEX, PM2_SIZE        Indexed  Kubernetes, and its user           the name of rank 0, a file with the secret
//	PMI_FD, or PMI_PORT and PMI_ID        PMI      hydra, Slurm's srun, Flux      a key space, PMI 1.1
//	PMIX_NAMESPACE, PMIX_RANK             PMIx     Open MPI's, and other servers  a key space, by libpmix
//	none of these                         Alone    nothing: one process
//
// A Manager is the connection of one process to its process manager. Agree is what all processes
// of a job do with it once, before they know each other:
//
//	one rank a host      puts the networks of its host         ── fence ──
//	rank 0               gets those of all hosts, keeps what all have, listens there,
//	                     puts address, networks, and a new random key        ── fence ──
//	all others           get that
//
// On one host the first fence is left out. So a job of N processes on H hosts costs
// 2N barriers, H+1 puts, and N+H gets, of which rank 0 makes H. A manager answers a get on the host of the rank, because
// the barrier before it has brought there what was put.
//
// # Guarantees
//
// The secret is made of the random key, the name of the key space and the size of the job, so what was put into
// another key space opens nothing. It is in no command line, in no file, and in no
// environment; it stays between the processes of the job, their manager, and the user's own processes.
//
// What the manager says is bounded and checked like everything else that a socket brings: a
// line has at most [maxLine] bytes, an answer the command that was asked for, numbers their ranges. Each
// failure is an [Error], which says what was asked, of which peer, and what came instead.
package manager
