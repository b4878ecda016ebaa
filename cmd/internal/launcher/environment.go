package launcher

import (
	"os"
	"slices"
	"strings"

	"github.com/pm2-go/pm2/nmad"
)

// IsTold reports whether a launcher sets a variable for one process.
func IsTold(name string) bool {
	return slices.ContainsFunc(nmad.Environment, func(v nmad.Variable) bool { return v.Told && v.Name == name })
}

// Forwarded are the variables of the project, "NAME=value", that other hosts get from here without a flag.
func Forwarded() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !IsOurs(name) || IsTold(name)
	})
}

// IsOurs reports whether a variable is one of the project's.
func IsOurs(name string) bool {
	return strings.HasPrefix(name, "PM2_") || strings.HasPrefix(name, "PIOM_")
}
