package driver

import (
	"errors"
	"strings"
	"testing"
)

func TestConfigCheck(t *testing.T) {
	good := Config{Rank: 1, Size: 2, Job: "j", Secret: []byte("s")}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Size = MaxSize + 1 },
		func(c *Config) { c.Size = 0; c.Rank = 0 },
		func(c *Config) { c.Rank = 2 },
		func(c *Config) { c.Rank = -1 },
		func(c *Config) { c.Secret = []byte{} },
		func(c *Config) { c.Job = strings.Repeat("j", MaxJob+1) },
	} {
		c := good
		change(&c)
		if err := c.Check(); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
