package monitor

import (
	"encoding/json"
	"fmt"
	"net"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Client looks at another process. It is for one goroutine at a time.
type Client struct {
	path string
	conn net.Conn
	in   *json.Decoder
	once bool // the first snapshot comes unasked
}

// patience is how long a client waits for an answer.
const patience = 5 * time.Second

// Attach connects to the process that serves at path. It fails if nobody does, or
// if the caller may not look.
func Attach(path string) (*Client, error) {
	c, err := net.DialTimeout("unix", path, patience)
	if err != nil {
		return nil, fmt.Errorf("monitor: attach to %s: %w: start the program with %s=%s", path, err, Environment, path)
	}
	return &Client{path: path, conn: c, in: json.NewDecoder(c)}, nil
}

// Stats returns a fresh snapshot. It blocks for the answer, 5 s at most. An error
// says that the process has gone, or is stuck; a process whose default scheduler
// has not started answers with a snapshot without VPs.
func (c *Client) Stats() (st sched.Stats, err error) {
	if err = c.conn.SetDeadline(time.Now().Add(patience)); err == nil {
		if c.once {
			_, err = c.conn.Write([]byte{'\n'})
		}
		c.once = true
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
