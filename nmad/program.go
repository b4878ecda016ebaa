package nmad

import (
	"context"
	"os"
	"sync"

	"github.com/pm2-go/pm2/internal/setting"
	"github.com/pm2-go/pm2/nmad/internal/limit"
	"github.com/pm2-go/pm2/nmad/internal/manager"
)

// program is what the launcher, or the process manager, says of the program of this process; asked for once.
type program struct {
	once   sync.Once
	number int
	known  bool
}

// Program says which program of the job's command line this process runs, 0 being the first, as its launcher or its
// process manager tells; false: neither does. The first call may wait for the process manager.
func (s *Session) Program() (number int, known bool) {
	if !s.made() {
		return 0, false
	}
	s.program.once.Do(func() {
		offThread(func() { s.program.number, s.program.known = s.cfg.findProgram() })
	})
	return s.program.number, s.program.known
}

func (cfg *Config) findProgram() (number int, known bool) {
	if cfg.manager == nil {
		number, err := setting.Number(os.Getenv(EnvProgram))
		return number, err == nil && cfg.told != nil
	}
	m, ok := cfg.manager.Manager.(manager.Programs)
	if !ok {
		return 0, false
	}
	ctx, stop := limit.Context(context.Background(), openLimit)
	defer stop()
	number, err := m.Program(ctx)
	return number, err == nil
}
