// Package bounds holds the library to docs/bounds.md: for each operation, and each state that a peer may be in, what it
// waits for at most, and how it ends then. A row of the table is a subtest of the same name; TestTable compares the
// two.
//
// The process of the test is rank 0 of a job of two or three. The other ranks are this very binary, started anew by
// package launch, and are really killed or stopped. A bound is met if the operation ends within three times what the
// table says and a second more, since machines are shared; and not before, where the table says how long it waits at
// least.
package bounds
