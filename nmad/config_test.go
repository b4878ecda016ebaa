package nmad

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/pioman"
)

// TestConfigOfOne: a job of one process does not take what one of several would not.
func TestConfigOfOne(t *testing.T) {
	e := pioman.New(pioman.Config{})
	defer e.Close()
	for name, c := range map[string]Config{
		"Driver":    {Driver: "x"},
		"list":      {Driver: "tcp,"},
		"Profile":   {Profile: filepath.Join(t.TempDir(), "none")},
		"Announced": {Announced: flow.MaxCookies + 1},
		"Timeout":   {Timeout: -1},
		"Linger":    {Linger: -1},
	} {
		c.Size, c.Engine = 1, e
		if s, err := Open(context.Background(), c); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				s.Close()
			}
		}
	}
	s, err := Open(context.Background(), Config{Size: 1, Engine: e, Announced: flow.MaxCookies, Driver: "tcp"})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}
