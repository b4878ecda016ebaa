package nmad

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Join opens the session that the launcher, or the process manager, has prepared: it is Open with the Config of
// FromEnvironment. A process joins its job once: while the session is open, and in a job of several processes also
// after Close, Join fails with ErrJoined, and so does Open with the Config of FromEnvironment. Join blocks the calling
// thread or goroutine only, until all processes have joined, or ctx ends.
func Join(ctx context.Context) (s *Session, err error) {
	ctx = orBackground(ctx)
	offThread(func() {
		var c Config
		if c, err = fromOwnEnvironment(ctx); err == nil {
			c.byJoin = true
			s, err = open(ctx, c)
		}
	})
	return s, err
}

// joinState is the state of this process's place in the job that its environment tells of. Open takes the place if its
// Config comes from FromEnvironment:
//
//	free --- Open ---> taken --- Close ---> left
//	  ^                  |
//	  '-- Open fails ----'  (to left, if the listening socket of rank 0 was closed)
//
// The processes of a job meet once, so nothing leads back from left. In a job of one process Close leads back to free.
type joinState struct {
	mu     sync.Mutex
	stage  joinStage
	socket net.Listener // rank 0: what EnvRendezvousFD has named; nil before it was read, or if there is none
}

type joinStage uint8

const (
	joinFree joinStage = iota
	joinTaken
	joinLeft
)

// joining is the state of this process's place.
var joining joinState

// jobIdentity is what FromEnvironment has read about the job. If the caller has changed that in a Config, the Config is
// for another job.
type jobIdentity struct {
	rank, size int
	rendezvous string
	listener   net.Listener
}

func identityOf(c *Config) *jobIdentity {
	return &jobIdentity{c.Rank, c.Size, c.Rendezvous, c.Listener}
}

// inherit returns the listening socket that the launcher has opened, which it takes over in the first call.
func (pl *joinState) inherit(text string) (net.Listener, error) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if pl.socket != nil {
		return pl.socket, nil
	}
	l, err := inherited(text)
	pl.socket = l
	return l, err
}

// take takes the place. It fails with ErrJoined if the place is not free.
func (pl *joinState) take() error {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	switch pl.stage {
	case joinTaken:
		return fmt.Errorf("nmad: %w: this process has a session already: use that one, or close it first", ErrJoined)
	case joinLeft:
		return fmt.Errorf("nmad: %w: this process has left it, and a job meets once", ErrJoined)
	}
	pl.stage = joinTaken
	return nil
}

// moveTo sets the state.
func (pl *joinState) moveTo(to joinStage) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.stage = to
}

// takePlace takes the place of this process in its job, if cfg is for that job. In a job of one process only Join takes
// it.
func (cfg *Config) takePlace() error {
	if cfg.fromEnv != nil && *cfg.fromEnv != *identityOf(cfg) {
		cfg.fromEnv, cfg.manager, cfg.rankZeroName = nil, nil, ""
	}
	if cfg.fromEnv == nil || cfg.Size == 1 && !cfg.byJoin {
		cfg.fromEnv = nil
		return nil
	}
	return joining.take()
}

// leavePlace undoes takePlace: after a Close (closed), or after an Open that has failed.
func (cfg *Config) leavePlace(closed bool) {
	switch {
	case cfg.fromEnv == nil:
	case cfg.Size > 1 && (closed || cfg.Listener != nil):
		joining.moveTo(joinLeft)
	default:
		joining.moveTo(joinFree)
	}
}
