package nmad

import (
	"fmt"
	"net"
	"sync"
)

// place is this process's place in the job that its environment tells of. Open takes it, of a Config that FromEnvironment
// has made:
//
//	free --- Open ---> taken --- Close ---> left
//	  ^                  |
//	  '-- Open fails ----'  unless the socket at which rank 0 was to be met is gone with it: then left
//
// A job meets once, so there is no way back from left. In a job of one process there are no others to meet: it goes back
// to free.
type place struct {
	mu     sync.Mutex
	stage  placeStage
	socket net.Listener // rank 0: what EnvRendezvousFD has named; nil: not yet read, or none
}

type placeStage uint8

const (
	placeFree placeStage = iota
	placeTaken
	placeLeft
)

// here is the place of this process.
var here place

// told is what FromEnvironment has read about the job. If the caller has changed that in a Config, the Config is for
// another job.
type told struct {
	rank, size int
	rendezvous string
	listener   net.Listener
}

func toldOf(c *Config) *told { return &told{c.Rank, c.Size, c.Rendezvous, c.Listener} }

// inherit takes over the listening socket that the launcher has opened, once.
func (pl *place) inherit(text string) (net.Listener, error) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if pl.socket != nil {
		return pl.socket, nil
	}
	l, err := inherited(text)
	pl.socket = l
	return l, err
}

func (pl *place) take() error {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	switch pl.stage {
	case placeTaken:
		return fmt.Errorf("nmad: %w: this process has a session already: use that one, or close it first", ErrJoined)
	case placeLeft:
		return fmt.Errorf("nmad: %w: this process has left it, and a job meets once", ErrJoined)
	}
	pl.stage = placeTaken
	return nil
}

func (pl *place) moveTo(to placeStage) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.stage = to
}

// takePlace takes the place of this process if that is the one that c is for. Without others only Join asks for it.
func (cfg *Config) takePlace() error {
	if cfg.told != nil && *cfg.told != *toldOf(cfg) {
		cfg.told, cfg.manager, cfg.named = nil, nil, ""
	}
	if cfg.told == nil || cfg.Size == 1 && !cfg.joins {
		cfg.told = nil
		return nil
	}
	return here.take()
}

// leavePlace is the counterpart of takePlace, after a Close or an Open that has failed.
func (cfg *Config) leavePlace(closed bool) {
	switch {
	case cfg.told == nil:
	case cfg.Size > 1 && (closed || cfg.Listener != nil):
		here.moveTo(placeLeft)
	default:
		here.moveTo(placeFree)
	}
}
