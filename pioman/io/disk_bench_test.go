package pio

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// variant is one way to do the same thing.
type variant struct {
	name string
	op   func() error
}

// interleave runs all variants b.N times in turn, and reports the median of each.
func interleave(b *testing.B, variants []variant) {
	b.Helper()
	interleaveOver(b, 1, variants)
}

// interleaveOver is interleave where one operation is n of what is reported.
func interleaveOver(b *testing.B, n int, variants []variant) {
	b.Helper()
	took := make([][]float64, len(variants))
	for range 20 {
		for _, v := range variants {
			check(b, v.op())
		}
	}
	for b.Loop() {
		for i, v := range variants {
			began := time.Now()
			err := v.op()
			took[i] = append(took[i], float64(time.Since(began).Nanoseconds()))
			check(b, err)
		}
	}
	for i, v := range variants {
		slices.Sort(took[i])
		b.ReportMetric(took[i][len(took[i])/2]/float64(n), v.name+"-ns")
	}
	b.ReportMetric(0, "ns/op")
}

// aligned returns n bytes at a page boundary, as O_DIRECT wants them.
func aligned(b *testing.B, n int) []byte {
	p, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	check(b, err)
	b.Cleanup(func() { _ = unix.Munmap(p) })
	return p
}

// How a thread reads and writes a file: docs/decisions/how-descriptors-wait.md.
func BenchmarkDisk(b *testing.B) {
	const space = 8 << 20
	path := filepath.Join(b.TempDir(), "data")
	check(b, os.WriteFile(path, make([]byte, space), 0o600))
	for _, how := range []struct {
		name   string
		direct int
		way    int
	}{
		{"cached read", 0, reading}, {"O_DIRECT read", unix.O_DIRECT, reading},
		{"cached write", 0, writing}, {"O_DIRECT write", unix.O_DIRECT, writing},
	} {
		for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
			for _, user := range []string{"thread", "goroutine"} {
				b.Run(fmt.Sprintf("%s/%dK/%s", how.name, size>>10, user), func(b *testing.B) {
					g := newRig(b, 1, true)
					bench := func() { benchDisk(b, g, path, how.direct, how.way, size, space) }
					if user == "thread" {
						g.run(bench)
					} else {
						bench()
					}
				})
			}
		}
	}
}

func benchDisk(b *testing.B, g *rig, path string, direct, way, size, space int) {
	f, err := g.OpenFile(path, os.O_RDWR|direct, 0)
	if err != nil {
		b.Skip(err)
	}
	defer f.Close()
	go_, err := os.OpenFile(path, os.O_RDWR|direct, 0)
	check(b, err)
	defer go_.Close()
	p := aligned(b, size)
	off := int64(0)
	next := func() int64 { off = (off + int64(size)) % int64(space); return off }
	variants := []variant{
		{"File", func() error { _, err := f.at(way, p, next()); return err }},
		{"plain", func() error { moveWaiting(way, f.d.fd, p, next()); return nil }},
		{"spare", func() error { _, err := f.moveAside(way, p, next()); return err }},
		{"os.File", func() (err error) {
			if way == reading {
				_, err = go_.ReadAt(p, next())
			} else {
				_, err = go_.WriteAt(p, next())
			}
			return err
		}},
	}
	x, bare := newRing(b, g), newRing(b, g)
	op := [2]uint8{opRead, opWrite}[way]
	variants = append(variants,
		variant{"ring", func() error { _, err := x.transfer(way, f.d.fd, p, next()); return err }},
		variant{"bare-ring", func() (err error) {
			marcel.Blocking(func() { _, err = bare.alone(op, f.d.fd, p, next()) })
			return err
		}},
		variant{"Blocking(nothing)", func() error { marcel.Blocking(func() {}); return nil }})
	interleave(b, variants)
}
