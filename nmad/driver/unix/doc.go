// Package unix links two processes of one host by two Unix stream sockets, one for
// each track. How two streams make a link, and how one polls and sleeps, is package
// internal/stream; here is what is special about Unix sockets.
//
// They need no shared memory and no descriptors to be passed, and take a third of the time of
// TCP over loopback: the kernel copies a packet into a buffer that it hangs
// into the queue of the other socket, and nothing else. So this is the network of a host on
// which memory cannot be shared.
//
// # Names
//
// An endpoint listens on an abstract name ("@pm2-unix-0-..."), which is no file:
// it goes with its process, however that ends. It is valid in one network name space.
//
// # Trust
//
// Any process of the host may connect to an abstract name. Both sides ask the kernel which user
// the other one is (SO_PEERCRED) and turn it away, before they say anything, unless it
// runs under the same user; then both prove that they hold the secret of the job.
package unix
