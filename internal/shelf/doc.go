// Package shelf has containers that many rooms use, also under spin locks: free lists, one that any thread may use
// (Free) and one for an owner with a lock (Spares), a counter of users (Uses), a queue linked through its elements (List),
// and a list that is read without a lock (Snapshot).
package shelf
