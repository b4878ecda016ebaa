// Package mapped is memory that processes of a host share: how it is made, found by others, bounded, mapped, and given back. All that
// processes share is of it: the segments of links over shared memory, messages that are loaned, memory for one-sided access, and
// that of collective operations. What lies in it, and when it may be touched, is the business of these.
//
// # Its life
//
//	Make, Create --- Open, Map: any process that is told ---> Vacate, by each for itself
//
// Memory is a memfd. It has no name in any file system, so nothing is left behind when its processes end, however they do: it goes with the
// last of them. Its size is sealed, so no access to it can end in a SIGBUS. The kernel provides a page when it is touched.
//
// A Card tells other processes where it is: they open the descriptor of its maker, in /proc. So memory is found as long as its maker
// lives and has not called Hide; those that have mapped it by then keep it. Where both have a socket the descriptor
// itself may go over it (Create, Check, Map).
//
// Memory stays mapped until Vacate, whether it can be reached or not, since a program may have nothing but slices of it. Vacate puts private empty
// memory in its place, in one step: a thread that is just there neither crashes nor meets what others have. The addresses go when
// the Memory cannot be reached any more; so one that goes on to use slices after Vacate keeps the Memory.
//
// # Trust
//
// What a peer names is looked at before it is mapped: plain memory, sealed, of the size that was said, and the very file that was meant: the
// kernel's number of it, which no other memory has meanwhile. The number of a process may have come to be another one's, and in a name space of its own it
// is another one's: then the file is another one, which is an error, but no ErrProtocol. All of it lies within limits that the caller checks.
// Mapped for reading only, it cannot be written here; what is ReadOnly not by any process but its maker.
// The bytes may change at any time.
package mapped
