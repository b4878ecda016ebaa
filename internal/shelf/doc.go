// Package shelf has containers that many rooms use, also under spin locks: a free list (Free), a counter of users
// (Uses), and a queue linked through its elements (List).
package shelf
