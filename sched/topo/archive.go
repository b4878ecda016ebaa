package topo

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of an archive: what is unpacked stays in memory.
const (
	maxArchiveFiles = 1 << 18
	maxArchiveBytes = 64 << 20
	maxArchiveName  = 1 << 10
)

// RecordedFile describes the machine recorded in a directory, or in a tar archive,
// plain or compressed with gzip or bzip2. The copied root may be a folder or two below the
// directory's or archive's own. Symbolic links are followed as long as they do not leave it.
//
// At most 2^18 files and 64 MiB of an archive are read into memory, and of each file
// the first 16 MiB.
func RecordedFile(name string) (*Topology, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("topo: recorded machine: %w", err)
	}
	var fsys fs.FS
	switch {
	case info.IsDir():
		root, err := os.OpenRoot(name) // a link to /sys would show this machine instead
		if err != nil {
			return nil, fmt.Errorf("topo: recorded machine: %w", err)
		}
		defer root.Close()
		fsys = root.FS()
	case info.Mode().IsRegular():
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("topo: recorded machine: %w", err)
		}
		defer f.Close()
		if fsys, err = Archive(f); err != nil {
			return nil, fmt.Errorf("topo: recorded machine %s: %w", name, err)
		}
	default:
		return nil, fmt.Errorf("topo: recorded machine %s: it is neither a directory nor an archive", name)
	}
	copied, err := findRoot(fsys)
	if err != nil {
		return nil, fmt.Errorf("topo: recorded machine %s: %w", name, err)
	}
	short := filepath.Base(name)
	for _, suffix := range []string{".bz2", ".gz", ".tgz", ".tar"} {
		short = strings.TrimSuffix(short, suffix)
	}
	return readMachine(copied, short, nil, nil)
}

// findRoot finds the copied root directory.
func findRoot(fsys fs.FS) (fs.FS, error) {
	level := []string{"."}
	for range 4 {
		var found, next []string
		for _, dir := range level {
			for _, sign := range []string{cpuDir, "proc/cpuinfo"} {
				if _, err := fs.Stat(fsys, path.Join(dir, sign)); err == nil {
					found = append(found, dir)
					break
				}
			}
			entries, _ := fs.ReadDir(fsys, dir)
			for _, e := range entries[:min(len(entries), 100)] {
				if e.IsDir() {
					next = append(next, path.Join(dir, e.Name()))
				}
			}
		}
		if len(found) > 1 {
			return nil, fmt.Errorf("it holds several machines (%s, %s...): unpack it and name one", found[0], found[1])
		}
		if len(found) == 1 {
			return fs.Sub(fsys, found[0])
		}
		level = next[:min(len(next), 1000)]
	}
	return nil, fmt.Errorf("it holds no copy of /%s, nor of /proc/cpuinfo", cpuDir)
}

// Archive reads a tar archive, plain or compressed with gzip or bzip2, into memory,
// within the bounds that [RecordedFile] states. Relative symbolic links work.
func Archive(r io.Reader) (fs.FS, error) {
	b := bufio.NewReader(r)
	magic, _ := b.Peek(3)
	switch {
	case bytes.HasPrefix(magic, []byte("BZh")):
		r = bzip2.NewReader(b)
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		r = z
	default:
		r = b
	}
	m := memory{".": &memoryFile{dir: true}}
	limited := &io.LimitedReader{R: r, N: 8 * maxArchiveBytes} // headers and what is passed over
	archive := tar.NewReader(limited)
	files, total := 0, int64(0)
	for {
		h, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("unpack: %w: it must be a tar archive, plain or compressed with gzip or bzip2", err)
		}
		name := path.Clean("/" + h.Name)[1:]
		if name == "" || len(name) > maxArchiveName || !fs.ValidPath(name) {
			continue
		}
		f := &memoryFile{}
		switch h.Typeflag {
		case tar.TypeReg:
			f.text, err = io.ReadAll(io.LimitReader(archive, maxFile))
			if err != nil {
				return nil, fmt.Errorf("unpack %s: %w", clip(name), err)
			}
		case tar.TypeLink:
			old := m[path.Clean("/" + h.Linkname)[1:]]
			if old == nil || old.dir {
				continue
			}
			f.text, f.link = old.text, old.link
		case tar.TypeSymlink:
			f.link = h.Linkname
		default:
			continue
		}
		files, total = files+1, total+int64(len(f.text))
		if files > maxArchiveFiles || total > maxArchiveBytes {
			return nil, fmt.Errorf("it is larger than %d files or %d MiB", maxArchiveFiles, maxArchiveBytes>>20)
		}
		if m.put(name, f); len(m) > 2*maxArchiveFiles {
			return nil, fmt.Errorf("it has more than %d folders", maxArchiveFiles)
		}
	}
	if len(m) == 1 {
		return nil, errors.New("it is no tar archive, or an empty one")
	}
	for _, f := range m {
		slices.SortFunc(f.entries, func(x, y fs.DirEntry) int { return strings.Compare(x.Name(), y.Name()) })
	}
	return m, nil
}
