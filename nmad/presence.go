package nmad

import (
	"fmt"
	"os"
	"sync"

	"github.com/pm2-go/pm2/nmad/internal/presence"
)

// toLauncher is where this process tells its launcher of its session, found once.
var toLauncher struct {
	mu     sync.Mutex
	teller *presence.Teller // nil: it was not asked to
}

// toldPresence takes over what EnvPresenceFD names, and takes it out of the environment.
func toldPresence() (*presence.Teller, error) {
	to := &toLauncher
	to.mu.Lock()
	defer to.mu.Unlock()
	text := os.Getenv(EnvPresenceFD)
	if text == "" {
		return to.teller, nil
	}
	teller, err := presence.Inherit(text)
	if err != nil {
		return nil, fmt.Errorf("nmad: %w: %s=%q: %v", ErrConfig, EnvPresenceFD, text, err)
	}
	to.teller = teller
	return teller, os.Unsetenv(EnvPresenceFD)
}

// tellLost tells the launcher, before any call fails for it, that the peer is lost, unless it had left the job.
func (g *Gate) tellLost(h *held) {
	if h.end == nil && g.domain.made() {
		g.domain.s.bereft.Store(true)
		g.domain.s.cfg.presence.Tell(presence.Lost)
	}
}
