// Package limit has time limits for waits that depend on another process. A limit counts only time in which this
// process could run, not time in which it was stopped by the stop key, by a debugger or with the whole machine. After
// such a stop the process finds what it has waited for in its sockets, and the clock says nothing about the other
// processes, which may have been stopped as well.
package limit
