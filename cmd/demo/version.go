package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/pm2-go/pm2/cmd/demo/internal/report"
)

type versionCommand struct{}

// run prints the version.
func (*versionCommand) run(context.Context) error {
	fmt.Println(version())
	return nil
}

// version is the module's version, or the commit that it was built from, and with what.
func version() string {
	v := report.Commit()
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		v = info.Main.Version
	}
	return fmt.Sprintf("demo %s, %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// helpCommand stands for the --help of a command; parse does it.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command to explain."`
}
