// Package mapped makes, finds, maps and gives back memory that processes of a host share. All shared memory of nmad
// comes from it: the segments of links, messages that are loaned, memory for one-sided access, and that of collective
// operations. The users of the package decide what lies in the memory, and when it may be touched.
//
// # The life of shared memory
//
//	one process: Make, or Create --- each process: Open, or Map ---> each process for itself: Vacate
//
// Shared memory is a memfd. It has no name in any file system, and the kernel frees it with the last process that has
// it, so nothing is left behind however the processes end. Its size is sealed, so no access to it can end in a SIGBUS.
// The kernel provides a page at the first access to it.
//
// A Locator tells other processes where the memory is: they open the maker's descriptor in /proc. So other processes
// can find the memory as long as its maker lives and has not called Hide; processes that have mapped the memory by then
// keep it. Two processes that have a socket between them may also pass the descriptor itself (Create, Check, Map).
//
// Memory stays mapped until Vacate, even if no Memory value leads to it any more, since a program may have nothing but
// slices of it. Vacate replaces it by private empty memory, in one step: a thread that uses the memory at that moment
// neither crashes nor sees what other processes write. The addresses are unmapped when the Memory value is garbage, so
// a program that uses slices after Vacate must keep the Memory value.
//
// # Trust
//
// Before this package maps memory that a peer names, it checks that it is plain memory, sealed and of the announced
// size, and that it is the very file that the peer means: the kernel numbers its files, and no two of them have the
// same number at the same time. The PID in a Locator may have passed to another process, or may be that of another
// process in this process's PID name space. Then Open finds another file, or none, which is an error but no
// ErrProtocol. The caller checks the limits of the size. Memory that is mapped for reading only cannot be written in
// this process; memory that is ReadOnly can be written by its maker alone. The bytes of shared memory may change at any
// time.
package mapped
