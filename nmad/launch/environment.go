package launch

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pm2-go/pm2/internal/setting"
	"github.com/pm2-go/pm2/marcel/monitor"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/internal/manager"
)

// variable joins a variable of the environment to the field of Spec that has precedence over it.
type variable struct {
	name string
	get  func(s *Spec) string // "": the field is not set
	set  func(s *Spec, text string) error
}

// settings are the variables that have a field. The others of nmad.Environment that are not Told pass from this
// process's environment to the children.
var settings = []variable{
	setBy(nmad.EnvDriver, func(s *Spec) *string { return &s.Driver }, parseText),
	setBy(nmad.EnvListen, func(s *Spec) *string { return &s.Listen }, parseText),
	setBy(nmad.EnvStrategy, func(s *Spec) *string { return &s.Strategy }, parseText),
	setBy(nmad.EnvProfile, func(s *Spec) *string { return &s.Profile }, parseText),
	setBy(nmad.EnvLink, func(s *Spec) *string { return &s.Link }, parseText),
	setBy(nmad.EnvUnbound, func(s *Spec) *bool { return &s.Unbound }, setting.Bool),
	setBy(nmad.EnvEager, func(s *Spec) *int { return &s.Eager }, setting.Bytes),
	setBy(nmad.EnvHeartbeat, func(s *Spec) *time.Duration { return &s.Heartbeat }, setting.Duration),
}

// setBy joins a variable to a field. A field with its zero value is not set.
func setBy[T comparable](name string, field func(s *Spec) *T, parse func(text string) (T, error)) variable {
	return variable{
		name: name,
		get: func(s *Spec) string {
			switch value := *field(s); {
			case value == *new(T):
				return ""
			case any(value) == any(true):
				return "1" // as docs/environment.md has it
			default:
				return fmt.Sprint(value)
			}
		},
		set: func(s *Spec, text string) (err error) {
			*field(s), err = setting.Read(name, text, parse)
			return err
		},
	}
}

func parseText(text string) (string, error) { return text, nil }

// Settings returns the names of the variables that have a field in Spec.
func Settings() []string {
	names := make([]string, len(settings))
	for i, v := range settings {
		names[i] = v.name
	}
	return names
}

// fromEnvironment sets the fields that are not set, so that all processes of the job have the same settings, also
// a caller that is rank 0.
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
	values := map[string]string{}
	for _, v := range settings {
		values[v.name] = v.get(s)
	}
	for _, v := range nmad.Environment {
		if v.Told {
			values[v.Name] = told[v.Name]
		}
	}
	if program == nil { // a remote shell has no mark: it may leave a connection open for the next job
		program = &Program{Dir: s.Dir}
	} else if told[nmad.EnvLauncher] == "" { // our own launcher is to find our children, too
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
