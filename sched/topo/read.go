package topo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// maxFile is how much of one file is read, in bytes: /proc/cpuinfo of the largest machines has some 8 MiB.
const maxFile = 16 << 20

var errNotRegular = errors.New("not a regular file")

// readText reads a file: at most maxFile bytes of it, and only if it is a regular one, for a pipe would block for ever.
func readText(fsys fs.FS, name string) (string, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: %w", name, errNotRegular)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	return string(text), err
}
