package nmad

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
)

// stamp is when a request begins, as far as a trace is recorded; else 0.
func stamp() int64 {
	if marcel.Tracing() {
		return asm.Cycles()
	}
	return 0
}
