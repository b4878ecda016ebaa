package pio

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A regular file behaves as an os.File does.
func TestDisk(t *testing.T) {
	modes(t, func(t *testing.T, g *rig, run func(func())) {
		path := filepath.Join(t.TempDir(), "file")
		run(func() { useFile(t, g, path) })
	})
}

func useFile(t *testing.T, g *rig, path string) {
	f, err := g.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	want := bytes.Repeat([]byte("0123456789abcdef"), 50_000)
	fail := func(what string, err error) { t.Errorf("%s: %v", what, err) }
	if n, err := f.Write(want[:100_000]); n != 100_000 || err != nil {
		fail("write", err)
	}
	if n, err := f.Write(want[100_000:]); n != len(want)-100_000 || err != nil {
		fail("write on", err)
	}
	if n, err := f.WriteAt([]byte("XYZ"), 16); n != 3 || err != nil {
		fail("write at", err)
	}
	copy(want[16:], "XYZ")
	if err := f.Sync(); err != nil {
		fail("sync", err)
	}
	if n, err := f.Seek(0, io.SeekStart); n != 0 || err != nil {
		fail("seek", err)
	}
	if got, err := io.ReadAll(f); !bytes.Equal(got, want) || err != nil {
		t.Errorf("read %d bytes of %d, or others: %v", len(got), len(want), err)
	}
	if n, err := f.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if n, err := f.Read(nil); n != 0 || err != nil {
		t.Errorf("nothing, at the end: %d, %v", n, err)
	}
	p := make([]byte, 8)
	if n, err := f.ReadAt(p, 14); n != 8 || err != nil || string(p) != "efXYZ345" {
		t.Errorf("read at: %d, %q, %v", n, p, err)
	}
	if n, err := f.ReadAt(p, int64(len(want))-3); n != 3 || err != io.EOF {
		t.Errorf("read at the end: %d, %v", n, err)
	}
	x, y := make([]byte, 5), make([]byte, 1<<20)
	if n, err := f.Seek(-7, io.SeekEnd); n != int64(len(want))-7 || err != nil {
		fail("seek back", err)
	}
	if n, err := f.Readv([][]byte{x, nil, y}); n != 7 || err != nil || string(x)+string(y[:2]) != "9abcdef" {
		t.Errorf("readv: %d, %q, %v", n, x, err)
	}
	if n, err := f.Readv([][]byte{nil, x}); n != 0 || err != io.EOF {
		t.Errorf("readv at the end: %d, %v", n, err)
	}
	if n, err := f.Writev([][]byte{[]byte("more"), nil, []byte("!")}); n != 5 || err != nil {
		t.Errorf("writev: %d, %v", n, err)
	}
	if n, err := f.ReadAt(x, int64(len(want))); n != 5 || err != nil || string(x) != "more!" {
		t.Errorf("what writev wrote: %d, %q, %v", n, x, err)
	}
	var at *fs.PathError
	if _, err := f.ReadAt(p, -1); !errors.As(err, &at) || at.Path != path {
		t.Errorf("read before the beginning: %v", err)
	}
	if err := f.SetDeadline(time.Now()); !errors.Is(err, os.ErrNoDeadline) {
		t.Errorf("deadline: %v", err)
	}
	if err := f.Close(); err != nil {
		fail("close", err)
	}
	for _, err := range []error{f.Close(), second(f.Read(p)), second(f.WriteAt(p, 0)), second(f.Seek(0, 0))} {
		if !errors.Is(err, os.ErrClosed) || !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	}
	if _, err := g.OpenFile(path+"/nothing", os.O_RDONLY, 0); !errors.As(err, &at) || !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("open: %v", err)
	}
}

// What the kernel cannot read at once is read aside: each byte arrives, whichever way.
func TestDiskAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	want := bytes.Repeat([]byte("the quick brown fox "), 40_000)
	check(t, os.WriteFile(path, want, 0o600))
	modes(t, func(t *testing.T, g *rig, run func(func())) {
		run(func() {
			var readers group
			for range 8 {
				readers.start(func() {
					f, err := g.OpenFile(path, os.O_RDWR, 0)
					if err != nil {
						t.Error(err)
						return
					}
					defer f.Close()
					f.slow[reading].Store(true)
					f.slow[writing].Store(true)
					// Not in memory any more, as far as the kernel likes to please us.
					_ = unix.Fadvise(f.d.fd, 0, 0, unix.FADV_DONTNEED)
					if got, err := io.ReadAll(f); !bytes.Equal(got, want) || err != nil {
						t.Errorf("read %d bytes of %d, or others: %v", len(got), len(want), err)
					}
					if n, err := f.WriteAt(want[:1000], 0); n != 1000 || err != nil {
						t.Errorf("wrote %d bytes: %v", n, err)
					}
				})
			}
			readers.wait()
		})
	})
}
