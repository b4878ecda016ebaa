package mpi

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad"
)

// dupWithDomain is Dup to a communicator with a domain of its own. access is the value of KeyDomain.
func (c *Comm) dupWithDomain(access string) (made *Comm, err error) {
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
	return made, nil
}

// inDomain opens a communicator like c in a domain of its own. All processes agree on the number of the domain, which
// each process has used for no other. wrong says why this process cannot take part.
func (c *Comm) inDomain(cfg nmad.DomainConfig, wrong error) (*Comm, error) {
	n := &c.job.numbers
	for agreed := false; !agreed; {
		n.mu.Lock()
		number := []int64{int64(n.domain + 1)}
		n.mu.Unlock()
		if err := c.agree(Max, number); err != nil {
			return nil, err
		}
		cfg.Number = int(number[0])
		n.mu.Lock()
		free := n.domain < cfg.Number // else another thread has taken it
		n.domain = max(n.domain, cfg.Number)
		n.mu.Unlock()
		var err error
		if agreed, err = agree(c.agree).all(free); err != nil {
			return nil, err
		}
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
	all, failed := agree(c.agree).all(err == nil)
	if err == nil {
		err = failed
	}
	if err == nil && !all {
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

// Info returns a copy of the hints with which the communicator was made, or of those of SetInfo.
func (c *Comm) Info() *Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info.Dup()
}

// SetInfo replaces the hints of the communicator. KeyDomain has an effect in Dup only.
func (c *Comm) SetInfo(hints *Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.info = hints.Dup()
}
