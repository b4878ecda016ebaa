// Package auto links each pair of processes over the best network that they have in common.
//
//	demo run -n 4 --hosts FILE ./program     auto is the default of nmad.Config.Driver and of PM2_DRIVER
//
//	on one host      shm; unix, if they cannot share memory
//	between hosts    ofi, in a program built with it, if libfabric has a provider better than TCP; tcp
//
// auto is a choice, not a network: the links are those of nmad/driver/shm, unix, ofi and tcp themselves, so it costs
// nothing once a link is there.
//
// An address names the host, then where the process accepts links by shared memory, by a Unix socket, and by TCP:
//
//	1c9e...-4026531840-4026531836 @pm2-shm-1-77ab... @pm2-unix-1-39f0... 10.0.0.7:41233
//
// The first word names a host: a running kernel, a network name space (names of Unix sockets are valid in one) and a
// name space of process ids. The dialer chooses. If a network does not work, for instance because a sandbox refuses
// shared memory, it takes the next one. Choice tells which network a link uses, and why.
package auto
