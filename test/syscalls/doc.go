// Package syscalls has tests about system calls.
//
//   - What docs/platforms.md says of sandboxes: the tests find the calls in the sources, and refuse each one to a job and
//     to a program with threads and sockets, which then have to do what the table says.
//   - What the everyday operations of threads cost: none of them makes a system call. A test counts the calls in a process
//     that it traces.
package syscalls
