package mpi

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/rma"
)

// memoryContext is that of the messages which ask a process to open the memory of the job.
const memoryContext = firstContext + 2*mostComms

// memory is what a job has of package rma. The first window opens it: all processes of its communicator do, and the others are asked to, by a message, since all processes of the job open it together.
type memory struct {
	session *nmad.Session
	asked   *nmad.Context
	request nmad.Request
	op      nmad.Op
	opened  atomic.Bool // world or failed is there

	mu     marcel.Mutex
	world  *rma.World
	failed error
}

// listen has this process take part when others open the memory. It does not block.
func (m *memory) listen(s *nmad.Session) error {
	m.session = s
	if s.Size() == 1 {
		return nil
	}
	all := make([]int, s.Size())
	for rank := range all {
		all[rank] = rank
	}
	var err error
	if m.asked, err = s.OpenContext(memoryContext, all...); err != nil {
		return err
	}
	m.op = nmad.Op{Kind: nmad.OpRecv, Match: nmad.Match{Context: m.asked}, Done: func(r *nmad.Request) {
		if _, err := r.Test(); err == nil {
			go func() { _, _ = m.open() }() // the window that is made next says what was wrong
			_ = s.Post(nmad.AnySource, &m.request, &m.op)
		}
	}}
	return s.Post(nmad.AnySource, &m.request, &m.op)
}

// open opens the memory, and waits until all processes of the job do.
func (m *memory) open() (*rma.World, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.world == nil && m.failed == nil {
		m.world, m.failed = rma.Open(m.session)
		m.opened.Store(true)
	}
	return m.world, m.failed
}

// memory is that of the job. All processes of c call it.
func (c *Comm) memory() (*rma.World, error) {
	m := &c.job.memory
	if c.rank == 0 && !m.opened.Load() {
		for process, rank := range c.place {
			if rank != Undefined {
				continue
			}
			if err := m.asked.IsendInto(&nmad.Request{}, process, 0, nil); err != nil {
				return nil, fmt.Errorf("process %d of the job: %w", process, err)
			}
		}
	}
	return m.open()
}
