package manager

import (
	"os"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
)

func TestMain(m *testing.M) {
	effort.Together(16) // the parallel ones wait for what does not come
	os.Exit(m.Run())
}
