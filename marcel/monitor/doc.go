// Package monitor shows a scheduler's counters to other processes of the host, through a Unix socket: what demo top
// looks at.
//
//	server, err := monitor.Serve("/run/user/1000/simulation.sock", nil)
//	defer server.Close()
//
// The default scheduler of any program serves itself if the environment says so: PM2_STATS=/tmp/simulation.sock
// ./simulation (package marcel/view).
//
// The socket has permission 0600: only its owner, and root, may look. It is made in a folder of its own and linked, so
// that it never has more, and removed when the server closes. A program that is killed, or ends without closing it,
// leaves it behind; the next Serve at that path finds that no process listens, and takes its place; the next Attach
// removes it. Neither touches anything else.
//
// # The protocol
//
// A client gets snapshots (sched.Stats) as JSON, one per line: the first at once, and another one for each line that it
// sends; for the line "threads" one with the threads in it, MostThreads at most.
package monitor
