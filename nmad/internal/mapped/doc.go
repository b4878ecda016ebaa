// Package mapped is memory that processes of a host share: how it is made, found by others, bounded, mapped, and given
// back. All shared memory comes from it: the segments of links, messages that are loaned, memory for one-sided access, and
// that of collective operations. Its users decide what lies in it, and when it may be touched.
//
// # Its life
//
//	Make, Create --- Open, Map: any process that is told ---> Vacate, by each for itself
//
// Memory is a memfd. It has no name in any file system, so nothing is left behind when its processes end, however they do:
// it goes with the last of them. Its size is sealed, so no access to it can end in a SIGBUS. The kernel provides a page
// when it is touched.
//
// A Card tells other processes where it is: they open the descriptor of its maker, in /proc. So other processes can find
// the memory as long as its maker lives and has not called Hide; processes that have mapped it by then keep it. If both
// processes have a socket, the descriptor itself may go over it (Create, Check, Map).
//
// Memory stays mapped until Vacate, whether it can be reached or not, since a program may have nothing but slices of it.
// Vacate puts private empty memory in its place, in one step: a thread that uses it at that moment neither crashes nor
// meets what others have. The addresses go when the Memory cannot be reached any more, so a program that uses slices after
// Vacate must keep the Memory.
//
// # Trust
//
// This package checks what a peer names before it maps it: that it is plain memory, sealed, of the announced size, and the
// very file that the peer means, by the kernel's number of the file, which no other memory has at the same time. The
// number of a process may have passed to another process, and in a name space of its own it is another one's. Then the
// file is another one, which is an error, but no ErrProtocol. The caller checks the limits of the size. Memory that is
// mapped for reading only cannot be written here; memory that is ReadOnly can be written by its maker alone. The bytes may
// change at any time.
package mapped
