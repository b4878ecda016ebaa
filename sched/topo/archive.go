package topo

import (
	"archive/tar"
	"archive/zip"
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
	"strings"
)

// Bounds of an archive: what is unpacked stays in memory.
const (
	maxArchiveFiles = 1 << 19 // and folders
	maxArchiveBytes = 64 << 20
	maxArchiveName  = 1 << 10
)

// RecordedFile describes the machine recorded in a directory, or in a tar archive, plain or compressed with gzip or
// bzip2. The copied root may be a folder or two below the directory's or archive's own. Symbolic links are followed as
// long as they do not leave it.
//
// At most 2^19 files and folders, and 64 MiB, of an archive are read into memory, and of each file
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
		if fsys, err = archive(f); err != nil {
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

// archive reads a tar archive, plain or compressed with gzip or bzip2, into memory, within the bounds that
// [RecordedFile] states.
func archive(r io.Reader) (fs.FS, error) {
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
	m := memory{links: map[string]string{}}
	var text bytes.Buffer
	out, seen, total := zip.NewWriter(&text), map[string]bool{".": true}, int64(0)
	unpacked := tar.NewReader(&io.LimitedReader{R: r, N: 8 * maxArchiveBytes}) // headers and what is passed over
	for {
		h, err := unpacked.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("unpack: %w: it must be a tar archive, plain or compressed with gzip or bzip2", err)
		}
		name := path.Clean("/" + h.Name)[1:]
		if seen[name] || name == "" || len(name) > maxArchiveName || !fs.ValidPath(name) {
			continue
		}
		switch h.Typeflag {
		case tar.TypeReg:
		case tar.TypeLink:
			m.links[name] = path.Clean("/" + h.Linkname)[1:]
		case tar.TypeSymlink:
			// An absolute one would mean the recorded machine's root, wherever that is in the archive: it leads
			// nowhere.
			if m.links[name] = path.Join(path.Dir(name), h.Linkname); path.IsAbs(h.Linkname) {
				m.links[name] = ""
			}
		default:
			continue
		}
		for at := name; !seen[at]; at = path.Dir(at) {
			seen[at] = true
		}
		f, err := out.CreateHeader(&zip.FileHeader{Name: name})
		if err == nil && h.Typeflag == tar.TypeReg {
			_, err = io.Copy(f, io.LimitReader(unpacked, maxFile))
			total += min(h.Size, maxFile)
		}
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", clip(name), err)
		}
		if len(seen) > maxArchiveFiles || total > maxArchiveBytes {
			return nil, fmt.Errorf("it is larger than %d files and folders or %d MiB", maxArchiveFiles, maxArchiveBytes>>20)
		}
	}
	if len(seen) == 1 {
		return nil, errors.New("it is no tar archive, or an empty one")
	}
	err := out.Close()
	if err == nil {
		m.files, err = zip.NewReader(bytes.NewReader(text.Bytes()), int64(text.Len()))
	}
	return m, err
}
