package topo

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// memory is a file system in memory: what an archive held. Its keys are the paths.
type memory map[string]*memoryFile

// maxLinks is how many links one name may lead through.
const maxLinks = 20

type memoryFile struct {
	dir     bool
	link    string // where a symbolic link points to
	text    []byte
	entries []fs.DirEntry
}

// put adds a file and the folders above it. It ignores a name that is a folder already, or below a
// file.
func (m memory) put(name string, f *memoryFile) {
	if old := m[name]; old != nil {
		if !old.dir {
			old.text, old.link = f.text, f.link // the later one counts
		}
		return
	}
	dir := path.Dir(name)
	for at := dir; at != "."; at = path.Dir(at) {
		if f := m[at]; f != nil && !f.dir {
			return
		}
	}
	m.hang(name, f)
}

// hang puts a file into its folder, which it makes if there is none.
func (m memory) hang(name string, f *memoryFile) {
	dir := path.Dir(name)
	if m[dir] == nil {
		m.hang(dir, &memoryFile{dir: true})
	}
	m[name] = f
	m[dir].entries = append(m[dir].entries, fs.FileInfoToDirEntry(memoryInfo{path.Base(name), f}))
}

// Open implements fs.FS.
func (m memory) Open(name string) (fs.File, error) {
	f := m.follow(name)
	if !fs.ValidPath(name) || f == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &openFile{memoryInfo{path.Base(name), f}, bytes.NewReader(f.text), 0}, nil
}

// follow finds a file, through symbolic links; nil if there is none.
func (m memory) follow(name string) *memoryFile {
	at, rest := ".", name
	for range maxLinks {
		for rest != "" {
			var step string
			step, rest, _ = strings.Cut(rest, "/")
			at = path.Join(at, step)
			if f := m[at]; f == nil || f.link != "" {
				break
			}
		}
		f := m[at]
		if f == nil || f.link == "" {
			return f
		}
		// Relative to the link's folder. An absolute one would mean the recorded machine's
		// root, wherever that is in the archive: not followed.
		at, rest = path.Join(path.Dir(at), f.link, rest), ""
		if strings.HasPrefix(f.link, "/") || strings.HasPrefix(at, "..") {
			return nil
		}
		at, rest = ".", at
	}
	return nil
}

// memoryInfo describes a file.
type memoryInfo struct {
	name string
	file *memoryFile
}

func (i memoryInfo) Name() string       { return i.name }
func (i memoryInfo) Size() int64        { return int64(len(i.file.text)) }
func (i memoryInfo) ModTime() time.Time { return time.Time{} }
func (i memoryInfo) IsDir() bool        { return i.file.dir }
func (i memoryInfo) Sys() any           { return nil }
func (i memoryInfo) Mode() fs.FileMode {
	switch {
	case i.file.dir:
		return fs.ModeDir | 0o555
	case i.file.link != "":
		return fs.ModeSymlink | 0o777
	}
	return 0o444
}

// openFile is an open file or folder.
type openFile struct {
	info memoryInfo
	*bytes.Reader
	next int // entry of a folder
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFile) Close() error               { return nil }

// ReadDir implements fs.ReadDirFile.
func (f *openFile) ReadDir(n int) ([]fs.DirEntry, error) {
	rest := f.info.file.entries[f.next:]
	if n > 0 {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		rest = rest[:min(n, len(rest))]
	}
	f.next += len(rest)
	return append([]fs.DirEntry(nil), rest...), nil
}
