// Package shelf has containers that many rooms use, also under spin locks: free lists, one that any thread may use
// (Free) and one for an owner with a lock (Spares), a counter of users (Uses), and a queue linked through its elements
// (List).
package shelf
