package pioman

import (
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/asm"
)

// Source announces arrivals of a network, so that an idle process can sleep in the kernel. The engine's sleeper calls
// Arm and Disarm, one thread at a time, in turn; they must not block and must not call the engine.
type Source interface {
	// Descriptor returns the file descriptor to watch, 0 or more, always the same one. It is readable once
	// something has happened after Arm.
	Descriptor() int
	// Arm asks for an announcement. It returns false if something has happened already: then the sleeper does not
	// sleep. A Disarm follows each Arm, also one that has returned false, unless the source is removed in between.
	Arm() bool
	// Disarm ends the announcement, and makes the descriptor unreadable again. A poll follows.
	Disarm()
}

// AddSource makes the engine watch a source whenever it sleeps in the kernel. The descriptor must stay
// open until RemoveSource. It does not block, and is allowed inside handlers. ErrSource: the kernel cannot watch the
// descriptor, or watches it already; ErrClosed.
func (e *Engine) AddSource(src Source) error {
	if src == nil {
		return fmt.Errorf("add source: nil: %w", ErrSource)
	}
	fd := src.Descriptor()
	if fd < 0 {
		return fmt.Errorf("add source: descriptor %d: %w", fd, ErrSource)
	}
	s := &e.sleeper
	s.mu.lock()
	defer s.mu.unlock()
	if err := s.opened(); err != nil {
		return fmt.Errorf("add source: descriptor %d: %w", fd, err)
	}
	if err := s.kernel.Load().add(fd); err != nil {
		return fmt.Errorf("add source: descriptor %d: %w: %w", fd, ErrSource, err)
	}
	list := append(slices.Clone(s.list()), src)
	s.sources.Store(&list)
	s.wake() // the sleeper, if there is one, has not armed it
	return nil
}

// RemoveSource undoes AddSource: on return the engine does not call the source any more. It may wait
// for a sleeping thread to come back (tens of microseconds); allowed inside handlers. Sources are told
// apart by their descriptors; one that was not added is ignored.
func (e *Engine) RemoveSource(src Source) {
	if src == nil {
		return
	}
	s, fd := &e.sleeper, src.Descriptor()
	this := func(x Source) bool { return x.Descriptor() == fd }
	s.mu.lock()
	list := slices.DeleteFunc(slices.Clone(s.list()), this)
	known := len(list) < len(s.list())
	if known {
		s.sources.Store(&list)
		s.kernel.Load().remove(fd)
	}
	s.mu.unlock()
	if !known {
		return
	}
	if s.holder.Load() == asm.G() { // the caller is a handler that the sleeper runs, perhaps before it has disarmed all sources
		s.armed = slices.DeleteFunc(slices.Clone(s.armed), this)
	}
	s.evict()
}

// list returns the sources. Its elements do not change.
func (s *kernelSleeper) list() []Source {
	if l := s.sources.Load(); l != nil {
		return *l
	}
	return nil
}
