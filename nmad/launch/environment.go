package launch

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pm2-go/pm2/internal/setting"
	"github.com/pm2-go/pm2/marcel/monitor"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/internal/manager"
)

// variable joins a variable to the field of Spec that goes before it.
type variable struct {
	name string
	get  func(s *Spec) string // "": not set
	set  func(s *Spec, text string) error
}

// settings are the variables that have a field. What else nmad.Environment has that is not
// Told goes to the children as it stands in our environment.
var settings = []variable{
	text(nmad.EnvDriver, func(s *Spec) *string { return &s.Driver }),
	text(nmad.EnvListen, func(s *Spec) *string { return &s.Listen }),
	text(nmad.EnvStrategy, func(s *Spec) *string { return &s.Strategy }),
	text(nmad.EnvProfile, func(s *Spec) *string { return &s.Profile }),
	text(nmad.EnvLink, func(s *Spec) *string { return &s.Link }),
	flag(nmad.EnvUnbound, func(s *Spec) *bool { return &s.Unbound }),
	{nmad.EnvEager, func(s *Spec) string {
		if s.Eager == 0 {
			return ""
		}
		return strconv.Itoa(s.Eager)
	}, func(s *Spec, text string) (err error) {
		s.Eager, err = setting.Read(nmad.EnvEager, text, setting.Bytes)
		return err
	}},
	{nmad.EnvHeartbeat, func(s *Spec) string {
		if s.Heartbeat == 0 {
			return ""
		}
		return s.Heartbeat.String()
	}, func(s *Spec, text string) (err error) {
		s.Heartbeat, err = setting.Read(nmad.EnvHeartbeat, text, setting.Duration)
		return err
	}},
}

// flag is a setting that is on or off.
func flag(name string, field func(s *Spec) *bool) variable {
	return variable{
		name,
		func(s *Spec) string {
			if *field(s) {
				return "1"
			}
			return ""
		},
		func(s *Spec, text string) (err error) {
			*field(s), err = setting.Read(name, text, setting.Bool)
			return err
		},
	}
}

// Settings are the names of the variables that have a field in Spec.
func Settings() []string {
	names := make([]string, len(settings))
	for i, v := range settings {
		names[i] = v.name
	}
	return names
}

// text is a setting that is a string.
func text(name string, field func(s *Spec) *string) variable {
	return variable{
		name,
		func(s *Spec) string { return *field(s) },
		func(s *Spec, text string) error { *field(s) = text; return nil },
	}
}

// fromEnvironment sets the fields that are not set, so that all processes of the job have the same
// settings, also a caller that is rank 0.
func (s *Spec) fromEnvironment() error {
	for _, v := range settings {
		if value := os.Getenv(v.name); v.get(s) == "" && value != "" {
			if err := v.set(s, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// environment is what a child gets: ours, as far as its program wants it, without what a launcher may have told
// us, with the settings, and with its rank. Without a program it is a remote shell.
func (s *Spec) environment(told map[string]string, program *Program) []string {
	if program == nil {
		program = &Program{Dir: s.Dir}
	}
	values := map[string]string{}
	for _, v := range settings {
		values[v.name] = v.get(s)
	}
	for _, v := range nmad.Environment {
		if v.Told {
			values[v.Name] = told[v.Name]
		}
	}
	if told[nmad.EnvLauncher] == "" { // our own launcher is to find our children, too
		delete(values, nmad.EnvLauncher)
	}
	path := told[monitor.Environment]
	if path != "" {
		values[monitor.Environment] = path
	}
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, ours := values[name]
		return ours || name == "PWD" && program.Dir != "" || slices.Contains(manager.Told, name) || program.Inherit != nil && !program.Inherit(name)
	})
	for _, v := range nmad.Environment { // in a steady order
		if value := values[v.Name]; value != "" {
			env = append(env, v.Name+"="+value)
		}
	}
	if path != "" {
		env = append(env, monitor.Environment+"="+path)
	}
	if program.Dir != "" {
		env = append(env, "PWD="+program.Dir)
	}
	return slices.Concat(env, s.Env, program.Env)
}
