// Package auto links each pair of processes in the best way that they have in
// common: shared memory on one host, else a Unix socket there, TCP otherwise; in a program built with it, libfabric
// between hosts that have a network for which that has a provider better than TCP. It is a choice,
// not a network: the links are those of nmad/driver/shm, unix, ofi and tcp themselves, so it
// costs nothing once a link is there.
//
// An address names the host, then where the process accepts links by shared
// memory, by a Unix socket, and by TCP:
//
//	1c9e...-4026531840-4026531836 @pm2-shm-1-77ab... @pm2-unix-1-39f0... 10.0.0.7:41233
//
// A host is a running kernel, a network name space (names of Unix sockets are valid in
// one) and a name space of process ids. The dialer chooses; where shared
// memory turns out not to work (no memfd, a sandbox in between) it goes on with the next way.
// Choice tells what became of it, and why.
package auto
