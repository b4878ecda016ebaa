package monitor

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/pm2-go/pm2/sched"
)

// Environment is the variable with the path of the socket; package marcel/view reads it.
const Environment = "PM2_STATS"

// longestPath is what the kernel's struct sockaddr_un has room for.
const longestPath = 107

// Server is a socket through which others can look at a scheduler.
type Server struct {
	path     string
	source   func() *sched.Scheduler
	listener *net.UnixListener
	inode    os.FileInfo

	mu         sync.Mutex
	conns      map[net.Conn]bool // the connections; nil: the server is closed
	goroutines sync.WaitGroup
}

// Serve listens at path and shows the counters of s to each client; nil stands for the default scheduler that runs when
// the client asks. It fails if path is too long for a socket (107 bytes, of which 17 may be needed for a while behind
// its folder), taken by a socket at which a process listens or by what is no socket, or in a folder that cannot be
// written. It does not block.
func Serve(path string, s *sched.Scheduler) (*Server, error) {
	source := sched.Running
	if s != nil {
		source = func() *sched.Scheduler { return s }
	}
	if len(path) > longestPath {
		return nil, fmt.Errorf("monitor: serve: %q has %d bytes, a socket's path %d at most: choose a shorter one", path, len(path), longestPath)
	}
	if err := removeStale(path); err != nil {
		return nil, fmt.Errorf("monitor: serve: %w", err)
	}
	// A socket gets its permission from the umask, which is the whole process's: so make it where no other user reaches
	// it, narrow it, and put it in place.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".pm2-")
	if err != nil {
		return nil, fmt.Errorf("monitor: serve at %s: %w", path, err)
	}
	defer os.RemoveAll(dir)
	inside := dir + "/s"
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: inside, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("monitor: serve at %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false) // its name will be another one
	if err = os.Chmod(inside, 0o600); err == nil {
		err = os.Link(inside, path) // unlike a rename, it replaces nothing
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("monitor: serve at %s: %w", path, err)
	}
	v := &Server{path: path, source: source, listener: l, conns: map[net.Conn]bool{}}
	v.inode, _ = os.Lstat(path)
	v.goroutines.Add(1)
	go v.accept()
	return v, nil
}

// removeStale removes the socket at path if no process listens there any more. It returns an error if path is taken by
// anything else.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&os.ModeSocket == 0:
		return fmt.Errorf("%s exists and is no socket: choose another path", path)
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
		return fmt.Errorf("a process listens at %s already: choose another path", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}

// Path returns where the socket is.
func (v *Server) Path() string { return v.path }

func (v *Server) accept() {
	defer v.goroutines.Done()
	for {
		c, err := v.listener.Accept()
		if err != nil {
			return // closed
		}
		v.mu.Lock()
		closed := v.conns == nil
		if !closed {
			v.conns[c] = true
			v.goroutines.Add(1)
		}
		v.mu.Unlock()
		if closed {
			c.Close()
			return
		}
		go v.serveClient(c)
	}
}

// MostThreads is the longest list that a server sends: a client reads all of it into memory.
const MostThreads = 1000

// askThreads is the line that asks for a snapshot with threads; any other asks for one without.
const askThreads = "threads"

// serveClient sends a snapshot now, and another one for each line that the client sends, until the connection ends.
func (v *Server) serveClient(c net.Conn) {
	defer v.goroutines.Done()
	defer func() {
		c.Close()
		v.mu.Lock()
		delete(v.conns, c)
		v.mu.Unlock()
	}()
	out := json.NewEncoder(c)
	in := bufio.NewScanner(c)
	for {
		most := 0
		if in.Text() == askThreads {
			most = MostThreads
		}
		var answer sched.Stats
		if s := v.source(); s != nil {
			answer = s.Snapshot(most)
		}
		if out.Encode(answer) != nil || !in.Scan() {
			return
		}
	}
}

// Close removes the socket, ends all connections, and waits for their goroutines. Close again does nothing.
func (v *Server) Close() error {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	open := v.conns
	v.conns = nil
	for c := range open {
		c.Close()
	}
	v.mu.Unlock()
	if open == nil {
		return nil
	}
	err := v.listener.Close()
	if now, e := os.Lstat(v.path); e == nil && os.SameFile(now, v.inode) {
		os.Remove(v.path)
	}
	v.goroutines.Wait()
	if err != nil {
		return fmt.Errorf("monitor: close: %w", err)
	}
	return nil
}
