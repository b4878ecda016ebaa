package nmad

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Join opens the session that the launcher, or the process manager, has prepared: Open with what
// FromEnvironment says. A process joins its job once: while it has the session, and in a job of several also after that,
// Join fails with ErrJoined, as does Open with what FromEnvironment says.
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

// joinState is this process's place in the job that its environment tells of. Open takes it, of a Config that FromEnvironment
// has made:
//
//	free --- Open ---> taken --- Close ---> left
//	  ^                  |
//	  '-- Open fails ----'  unless the socket at which rank 0 was to be met is gone with it: then left
//
// A job meets once, so there is no way back from left. In a job of one process there are no others to meet: it goes back
// to free.
type joinState struct {
	mu     sync.Mutex
	stage  joinStage
	socket net.Listener // rank 0: what EnvRendezvousFD has named; nil: not yet read, or none
}

type joinStage uint8

const (
	joinFree joinStage = iota
	joinTaken
	joinLeft
)

// joining is the place of this process.
var joining joinState

// jobIdentity is what FromEnvironment has read about the job. If the caller has changed that in a Config, the Config is for
// another job.
type jobIdentity struct {
	rank, size int
	rendezvous string
	listener   net.Listener
}

func identityOf(c *Config) *jobIdentity {
	return &jobIdentity{c.Rank, c.Size, c.Rendezvous, c.Listener}
}

// inherit takes over the listening socket that the launcher has opened, once.
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

func (pl *joinState) moveTo(to joinStage) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.stage = to
}

// takePlace takes the place of this process if that is the one that cfg is for. Without others only Join asks for it.
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

// leavePlace is the counterpart of takePlace, after a Close or an Open that has failed.
func (cfg *Config) leavePlace(closed bool) {
	switch {
	case cfg.fromEnv == nil:
	case cfg.Size > 1 && (closed || cfg.Listener != nil):
		joining.moveTo(joinLeft)
	default:
		joining.moveTo(joinFree)
	}
}
