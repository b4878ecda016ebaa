package mpi

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad"
)

// DupWith is Dup with hints. All processes of c call it with the same KeyDomain: "private" promises that one thread,
// the caller, uses the new communicator, and calls now and then. Values of Keys are copied as by Dup. A key that is
// not heeded is kept, and does nothing.
func (c *Comm) DupWith(hints *Info) (made *Comm, err error) {
	access, own := hints.Get(KeyDomain)
	if !own {
		if made, err = c.Dup(); err == nil {
			made.SetInfo(hints)
		}
		return made, err
	}
	if err := c.usable(); err != nil {
		return nil, err
	}
	cfg := nmad.DomainConfig{}
	var wrong error
	switch access {
	case "shared":
		cfg.Access = nmad.Shared
	case "serialized":
		cfg.Access = nmad.Serialized
	case "private":
		cfg.Access = nmad.Private
	default:
		wrong = fmt.Errorf("%w: %s=%q: shared, serialized or private", ErrInfo, KeyDomain, access)
	}
	if made, err = c.inDomain(cfg, wrong); err != nil {
		return nil, fmt.Errorf("mpi: new communicator from %v: %w", c, err)
	}
	made.private = cfg.Access == nmad.Private
	c.endow(made)
	made.SetInfo(hints)
	return made, nil
}

// inDomain opens a communicator like c in a domain of its own. All processes agree upon its number, since a number is
// for one domain only. wrong says why this process cannot.
func (c *Comm) inDomain(cfg nmad.DomainConfig, wrong error) (*Comm, error) {
	n := &c.job.numbers
	for vote := int64(0); vote == 0; {
		n.mu.Lock()
		number := []int64{int64(n.domain + 1)}
		n.mu.Unlock()
		if err := c.agree(Max, number); err != nil {
			return nil, err
		}
		cfg.Number = int(number[0])
		n.mu.Lock()
		if n.domain < cfg.Number { // else another thread has taken it
			n.domain, vote = cfg.Number, 1
		}
		n.mu.Unlock()
		all := []int64{vote}
		if err := c.agree(Min, all); err != nil {
			return nil, err
		}
		vote = all[0]
	}
	var made *Comm
	var d *nmad.Domain
	err := wrong
	if err == nil {
		d, err = c.job.session.Domain(cfg)
	}
	if err == nil {
		made, err = c.job.open("", c.group, -cfg.Number, 0, d)
	}
	vote := []int64{1}
	if err != nil {
		vote[0] = 0
	}
	if err2 := c.agree(Min, vote); err == nil && err2 != nil {
		err = err2
	}
	if err == nil && vote[0] == 0 {
		err = fmt.Errorf("%w: another process could not open it", ErrComm)
	}
	if err != nil {
		if d != nil {
			_ = d.Close()
		}
		return nil, err
	}
	return made, nil
}

// Info returns the hints that the communicator was made with, or that SetInfo has given.
func (c *Comm) Info() *Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info.Dup()
}

// SetInfo gives the communicator hints. KeyDomain is for DupWith only, and does nothing here.
func (c *Comm) SetInfo(hints *Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.info = hints.Dup()
}
