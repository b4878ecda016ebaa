// Package limit gives up on what depends on another process and takes too long. Only time
// counts in which this process could run: a process that was stopped (by the stop key, a debugger, a
// machine that slept) finds what it waited for in its sockets when it goes on, and the clock
// says nothing about the others, which may have been stopped as well.
package limit
