package monitor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Client is a connection to the server of another process. One goroutine at a time may use it.
type Client struct {
	path string
	conn net.Conn
	in   *json.Decoder
}

// patience is how long a client waits for an answer.
const patience = 5 * time.Second

// Attach connects to the process that serves at path. It fails if none does, or if the caller may not look, or gets no
// answer within 5 s. A socket that a process has left there which has ended is removed.
func Attach(path string) (*Client, error) {
	c, err := net.DialTimeout("unix", path, patience)
	if errors.Is(err, syscall.ECONNREFUSED) && removeStale(path) == nil {
		return nil, fmt.Errorf("monitor: attach to %s: the process that served there has ended; its socket is removed now", path)
	}
	if err != nil {
		return nil, fmt.Errorf("monitor: attach to %s: %w: start the program with %s=%s", path, err, Environment, path)
	}
	v := &Client{path: path, conn: c, in: json.NewDecoder(c)}
	if _, err := v.ask(""); err != nil {
		c.Close()
		return nil, err
	}
	return v, nil
}

// Stats returns a fresh snapshot without threads. It blocks for the answer, 5 s at most. An error says that the process
// has gone, or is stuck; a process whose default scheduler has not started answers with a snapshot without VPs.
func (c *Client) Stats() (sched.Stats, error) { return c.ask("\n") }

// Threads is Stats with the oldest threads of the process, MostThreads at most: Stats.Alive says how many there are.
func (c *Client) Threads() (sched.Stats, error) { return c.ask(askThreads + "\n") }

// ask sends a line and returns the answer. The server sends the first snapshot without a line.
func (c *Client) ask(line string) (sched.Stats, error) {
	var st sched.Stats
	err := c.conn.SetDeadline(time.Now().Add(patience))
	if err == nil {
		_, err = io.WriteString(c.conn, line)
	}
	if err == nil {
		err = c.in.Decode(&st)
	}
	if err != nil {
		return sched.Stats{}, fmt.Errorf("monitor: %s: %w", c.path, err)
	}
	return st, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }
