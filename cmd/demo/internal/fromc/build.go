package fromc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Build builds the command whose import path is given, which has main's function in the folder named, so that it can
// call from C, and returns where the program is: in the user's cache, where the next call finds it ready. It takes the
// go command, and a C compiler; an error says which of them is missing.
func Build(ctx context.Context, command string) (program string, err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", errors.New("a program that calls from C has to be built, and there is no go command in PATH: install Go, https://go.dev/dl")
	}
	folder := source()
	compiler := exec.CommandContext(ctx, "go", "env", "CC")
	compiler.Dir = folder
	cc, err := compiler.Output()
	if err != nil {
		return "", fmt.Errorf("ask go which C compiler there is: %w", err)
	}
	if words := strings.Fields(string(cc)); len(words) > 0 {
		if _, err := exec.LookPath(words[0]); err != nil {
			return "", fmt.Errorf("a program that calls from C has to be built, and there is no C compiler %s: install one (Debian: gcc, libc6-dev), or name it in CC", words[0])
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("a program that calls from C is built into the user's cache: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(cache, "pm2"), 0o700); err != nil {
		return "", err
	}
	program = filepath.Join(cache, "pm2", filepath.Base(command)+"-fromc")
	build := exec.CommandContext(ctx, "go", "build", "-tags", "fromc", "-o", program, command)
	build.Dir = folder
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s so that it calls from C: %w: give the command within a clone, or within a module that requires it\n%s", command, err, out)
	}
	return program, nil
}

// source is the folder of the clone that this program was built from, if it is still there; empty: the current one.
func source() string {
	_, file, _, _ := runtime.Caller(0)
	if folder := filepath.Dir(file); filepath.IsAbs(folder) {
		if _, err := os.Stat(file); err == nil {
			return folder
		}
	}
	return ""
}
