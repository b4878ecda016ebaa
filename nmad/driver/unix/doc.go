// Package unix links two processes of one host by two Unix stream sockets, one for each track.
//
//	demo run -n 2 --driver unix ./program     also by nmad.Config.Driver, PM2_DRIVER
//
//	process A ══ socket 1: packets, in order ═══════ process B
//	          ══ socket 2: bytes of long messages ══
//
// Package internal/stream has how two streams make a link, and how a thread polls them and sleeps. Here is what is
// special about Unix sockets. They need no shared memory, and pass no descriptors. They take a third of the time of TCP
// over loopback, since the kernel only copies a packet into a buffer in the queue of the other socket. So this is the
// network of a host on which processes cannot share memory.
//
// # Names
//
// An endpoint listens on an abstract name ("@pm2-unix-0-..."), which is no file: it goes with its process, however that
// ends. It is valid in one network name space.
//
// # Trust
//
// Any process of the host may connect to an abstract name. Both sides ask the kernel which user the other one is
// (SO_PEERCRED) and turn it away, before they say anything, unless it runs under the same user; then both prove that
// they hold the secret of the job.
package unix
