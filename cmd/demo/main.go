package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"
	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/pingpong"
	"github.com/pm2-go/pm2/cmd/internal/launcher"
	"github.com/pm2-go/pm2/marcel/view"
	_ "github.com/pm2-go/pm2/nmad/driver/fault" // --driver fault:tcp
	"github.com/pm2-go/pm2/nmad/launch"
	"github.com/pm2-go/pm2/pioman"
)

func main() {
	switch {
	case pingpong.IsRank1():
		os.Exit(watched(runRank1))
	case duo.IsRank1():
		os.Exit(watched(runFollower))
	}
	os.Exit(run(os.Args[1:]))
}

// run runs one command line and returns the exit status.
func run(args []string) int {
	if i := slices.Index(args, "-np"); i > 0 && args[0] == "run" && !slices.Contains(args[:i], "--") { // as mpirun has it
		args = slices.Clone(args)
		args[i] = "-n"
	}
	command, err := parse(args, os.Exit)
	if err != nil {
		return fail(err)
	}
	// A reader of the results that has gone, such as head, ends this like an error, with all that must be undone;
	// without a handler the signal would end the process where it is.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	if err := pioman.CheckEnvironment(); err != nil && os.Getenv("PM2_LAUNCHER") == "" { // of a job's processes only the launcher says so
		fmt.Fprintf(os.Stderr, "demo: %s\n", oneLine(err))
	}
	if launcher, ok := command.(*runCommand); ok { // it hands signals on, and has nothing to show to demo top
		if err := launcher.run(); err != nil {
			return fail(err)
		}
		return 0
	}
	return watched(func() int { return execute(command) })
}

// watched runs f, which PM2_STATS and PM2_TRACE let the user look at, to its end.
func watched(f func() int) int {
	observed, err := view.FromEnvironment()
	if err != nil {
		return fail(err)
	}
	defer func() {
		if err := observed.End(); err != nil {
			warn("%s", oneLine(err))
		}
	}()
	return f()
}

// execute runs a command that ends with its first signal.
func execute(command any) int {
	ctx, caught := interruptible()
	var err error
	switch c := command.(type) {
	case *pingpongCommand:
		err = c.run(ctx)
	case *benchCommand:
		err = c.run(ctx)
	case func(context.Context) error:
		err = c(ctx)
	}
	if s := caught(); s != 0 {
		if !errors.As(err, &toldError{}) {
			fmt.Fprintf(os.Stderr, "demo: interrupted (%s)\n", unix.SignalName(s))
		}
		return 128 + int(s)
	}
	if err != nil {
		return fail(err)
	}
	return 0
}

// runRank1 is the whole life of the second process.
func runRank1() int {
	err := pingpong.RunRank1()
	if errors.Is(err, pingpong.ErrTold) {
		return 1 // rank 0 prints it
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "demo: rank 1: %v\n", oneLine(err))
		return 1
	}
	return 0
}

// fail prints one line and returns the exit status.
func fail(err error) int {
	if told := (toldError{}); errors.As(err, &told) {
		return told.status
	}
	if errors.Is(err, unix.EPIPE) && launcher.Unread() {
		return 128 + int(unix.SIGPIPE) // as if the signal had ended it
	}
	fmt.Fprintf(os.Stderr, "demo: %s\n", oneLine(err))
	if c := (choiceError{}); errors.As(err, &c) {
		fmt.Fprintf(os.Stderr, "  %s\n", strings.Join(c.choices, "\n  "))
	}
	if errors.As(err, &usageError{}) {
		return 2
	}
	if i := (*launch.InterruptError)(nil); errors.As(err, &i) {
		i.Raise()
		return i.Status()
	}
	if own := (statusError{}); errors.As(err, &own) {
		return own.status
	}
	return 1
}

// interruptible returns a context that SIGINT and SIGTERM end, and a function that says which of them came (0: none). A
// second signal ends the program at once.
func interruptible() (context.Context, func() unix.Signal) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM)
	var mu sync.Mutex
	var caught unix.Signal
	go func() {
		s, _ := (<-signals).(unix.Signal)
		mu.Lock()
		caught = s
		mu.Unlock()
		signal.Reset(unix.SIGINT, unix.SIGTERM)
		cancel()
	}()
	return ctx, func() unix.Signal {
		mu.Lock()
		defer mu.Unlock()
		return caught
	}
}

func asParseError(err error, target **kong.ParseError) bool { return errors.As(err, target) }
