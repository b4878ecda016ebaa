package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/nmad"
)

type versionCommand struct{}

// run prints the version.
func (*versionCommand) run(context.Context) error {
	fmt.Println(version())
	return nil
}

// versionFlag prints the version, and ends. The version is found out then and not sooner: for that git may be run.
type versionFlag bool

// BeforeReset implements kong's hook of a flag that stands for all else.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	fmt.Fprintln(app.Stdout, version())
	app.Exit(0)
	return nil
}

// version is the module's version, or the commit that it was built from, and with what.
func version() string {
	v := report.Commit()
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		v = info.Main.Version
	}
	return fmt.Sprintf("demo %s (%s), %s %s/%s", nmad.Version, v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// helpCommand stands for the --help of a command; parse does it.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command to explain."`
}
