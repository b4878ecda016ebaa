// Package waiters is the load under which demo explain-progress asks the progress engine what it does: goroutines that
// wait for messages, each at a socket of its own, messages that come in bursts with pauses between them, and threads
// that compute for a part of the time.
package waiters
