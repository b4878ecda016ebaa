// Package binding says which CPUs this process may use and ties threads to them.
//
// The demo binds a process as a whole, every thread of it, so that the two processes of a ping-pong share nothing but
// the wire, as the ranks of a message-passing job do. Schedulers created afterwards take the one CPU for all that there
// is and bind their threads within it.
package binding
