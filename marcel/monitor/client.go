package monitor

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"syscall"
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

// Attach connects to the process that serves at path. It fails if none does, or
// if the caller may not look. A socket that a process has left there which has ended is removed.
func Attach(path string) (*Client, error) {
	c, err := net.DialTimeout("unix", path, patience)
	if errors.Is(err, syscall.ECONNREFUSED) && clear(path) == nil {
		return nil, fmt.Errorf("monitor: attach to %s: the process that served there has ended; its socket is removed now", path)
	}
	if err != nil {
		return nil, fmt.Errorf("monitor: attach to %s: %w: start the program with %s=%s", path, err, Environment, path)
	}
	return &Client{path: path, conn: c, in: json.NewDecoder(c)}, nil
}

// Stats returns a fresh snapshot. It blocks for the answer, 5 s at most. An error
// says that the process has gone, or is stuck; a process whose default scheduler
// has not started answers with a snapshot without VPs.
func (c *Client) Stats() (st sched.Stats, err error) {
	if c.once {
		err = c.ask("")
	}
	if err == nil {
		err = c.answer(&st)
	}
	if err != nil {
		return sched.Stats{}, err
	}
	return st, nil
}

// Threads returns the list of the process's threads, as Stats does the counters.
func (c *Client) Threads() (l Threads, err error) {
	if !c.once {
		_, err = c.Stats() // which comes unasked
	}
	if err == nil {
		err = c.ask(askThreads)
	}
	if err == nil {
		err = c.answer(&l)
	}
	if err != nil {
		return Threads{}, err
	}
	return l, nil
}

// ask sends a line that asks for something.
func (c *Client) ask(line string) error {
	err := c.conn.SetDeadline(time.Now().Add(patience))
	if err == nil {
		_, err = c.conn.Write([]byte(line + "\n"))
	}
	return c.failed(err)
}

// answer reads what was asked for.
func (c *Client) answer(to any) error {
	c.once = true
	err := c.conn.SetDeadline(time.Now().Add(patience))
	if err == nil {
		err = c.in.Decode(to)
	}
	return c.failed(err)
}

// failed says whose error it is, if it is one.
func (c *Client) failed(err error) error {
	if err != nil {
		return fmt.Errorf("monitor: %s: %w", c.path, err)
	}
	return nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }
