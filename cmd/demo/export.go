package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pm2-go/pm2/cmd/internal/launcher"
	"github.com/pm2-go/pm2/nmad/launch"
)

// exports are the variables of --export as "NAME=value".
func (c *runCommand) exports() ([]string, error) {
	var all []string
	for _, text := range c.Export {
		name, value, given := strings.Cut(text, "=")
		if name == "" {
			return nil, fmt.Errorf("--export %q: write NAME or NAME=VALUE", text)
		}
		if launcher.IsTold(name) {
			return nil, fmt.Errorf("--export %s: the launcher sets it", name)
		}
		if slices.Contains(launch.Settings(), name) {
			return nil, fmt.Errorf("--export %s: it has a flag, --%s", name, strings.ToLower(strings.TrimPrefix(name, "PM2_")))
		}
		if !given {
			if value, given = os.LookupEnv(name); !given {
				return nil, fmt.Errorf("--export %s: it is not set here: set it, or write %s=VALUE", name, name)
			}
		}
		all = append(all, name+"="+value)
	}
	return all, nil
}

// environment sets what the processes get besides our own environment. A flag that is not given has the value of
// its variable already. One that is given takes precedence over the variable, also if it is empty.
func (c *runCommand) environment(spec *launch.Spec) (err error) {
	for _, name := range launch.Settings() {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	if c.exported, err = c.exports(); err != nil {
		return err
	}
	spec.Env = c.exported
	if c.Dir == "" && c.Hosts != "" { // the same there
		c.Dir, err = os.Getwd()
	} else if c.Dir != "" {
		c.Dir, err = filepath.Abs(c.Dir)
	}
	if err != nil {
		return fmt.Errorf("the working directory: %w: choose one by --dir", err)
	}
	return nil
}
