package mapped

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
)

func made(t *testing.T, size uint64) *Memory {
	t.Helper()
	m, err := Make("test", size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Vacate() })
	return m
}

// TestShared: what one process writes another one reads, through a mapping of its own, also after the memory was
// hidden, and after its maker has given it back.
func TestShared(t *testing.T) {
	for _, size := range []uint64{0, 1, 4096, 10_000, 1 << 20} {
		m := made(t, size)
		b := make([]byte, LocatorBytes)
		m.Locator().Put(b)
		for _, writes := range []bool{false, true} {
			v, err := LocatorOf(b).Open("memory", writes)
			if err != nil {
				t.Fatalf("%d bytes, writes: %v: %v", size, writes, err)
			}
			t.Cleanup(func() { v.Vacate() })
			if uint64(len(v.Bytes())) != size {
				t.Fatalf("%d bytes of %d", len(v.Bytes()), size)
			}
			if size == 0 {
				continue
			}
			m.Bytes()[size-1] = 7
			if v.Bytes()[size-1] != 7 {
				t.Error("it is other memory")
			}
			if writes {
				v.Bytes()[0] = 9
				m.Hide()
				if _, err := m.Locator().Open("memory", false); err == nil {
					t.Error("memory that is hidden is found")
				}
				want := bytes.Clone(v.Bytes())
				if err := m.Vacate(); err != nil {
					t.Error(err)
				}
				if !bytes.Equal(v.Bytes(), want) {
					t.Error("it is gone with its maker")
				}
			}
		}
	}
}

// TestReadOnly: memory that is read only cannot be mapped for writing, and its maker goes on to write it.
func TestReadOnly(t *testing.T) {
	m := made(t, 4096)
	m.ReadOnly()
	if seals, err := unix.FcntlInt(uintptr(m.Locator().FD), unix.F_GET_SEALS, 0); err != nil || seals&unix.F_SEAL_FUTURE_WRITE == 0 {
		t.Skip("the kernel is older than Linux 5.1")
	}
	if _, err := m.Locator().Open("memory", true); err == nil {
		t.Error("it can be mapped for writing")
	}
	v, err := m.Locator().Open("memory", false)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Vacate()
	if m.Bytes()[5] = 3; v.Bytes()[5] != 3 {
		t.Error("it is other memory")
	}
}

// TestVacate: from then on it is private and empty, and its descriptor is closed.
func TestVacate(t *testing.T) {
	m := made(t, 1<<20)
	m.Bytes()[3] = 1
	fd := int(m.Locator().FD)
	for range 2 {
		if err := m.Vacate(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
		t.Error("the descriptor is open")
	}
	if m.Bytes()[3] != 0 {
		t.Error("the old content is still there")
	}
	m.Bytes()[3] = 2
	var none *Memory
	none.Hide()
	if err := none.Vacate(); err != nil {
		t.Error(err)
	}
}

// TestGone: the addresses of memory that was given back go with the last reference to it; those of memory that was not
// stay.
func TestGone(t *testing.T) {
	vacated, kept := addresses(t, true), addresses(t, false)
	for end := time.Now().Add(5 * time.Second); taken(t, vacated); {
		if runtime.GC(); time.Now().After(end) {
			t.Fatal("the addresses of memory that was given back are taken")
		}
	}
	if !taken(t, kept) {
		t.Error("memory that was not given back is gone")
	}
}

// addresses makes memory, forgets it, and says where it is.
func addresses(t *testing.T, vacates bool) uint64 {
	m, err := Make("test", 123*4096)
	if err != nil {
		t.Fatal(err)
	}
	m.Bytes()[0] = 1
	if vacates {
		m.Vacate()
	}
	return uint64(uintptr(m.whole.at))
}

// taken says whether there is something at an address.
func taken(t *testing.T, at uint64) bool {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		if n, _ := fmt.Sscanf(line, "%x-%x", &from, &to); n == 2 && from <= at && at < to {
			return true
		}
	}
	return false
}

// TestWrongLocators: what is not what its maker says is refused; only what the maker of that very file is wrong about
// is an ErrProtocol.
func TestWrongLocators(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(4096); err != nil {
		t.Fatal(err)
	}
	size, number, err := Check(int(file.Fd()), "file")
	if size != 4096 || number == 0 || !errors.Is(err, driver.ErrProtocol) {
		t.Errorf("a file: %d bytes, number %d, %v", size, number, err)
	}
	good := made(t, 4096).Locator()
	me := uint32(os.Getpid())
	for what, c := range map[string]struct {
		locator Locator
		breach  bool
	}{
		"none":            {Locator{}, false},
		"no process":      {Locator{1 << 30, good.FD, good.File, good.Size}, false},
		"no descriptor":   {Locator{me, 1 << 30, good.File, good.Size}, false},
		"another file":    {Locator{me, good.FD, good.File + 1, good.Size}, false},
		"another size":    {Locator{me, good.FD, good.File, good.Size + 1}, true},
		"a file":          {Locator{me, uint32(file.Fd()), number, 4096}, true},
		"a file, another": {Locator{me, uint32(file.Fd()), good.File, good.Size}, false},
	} {
		for _, writes := range []bool{false, true} {
			if m, err := c.locator.Open("memory", writes); err == nil || errors.Is(err, driver.ErrProtocol) != c.breach {
				t.Errorf("%s: %v, %v", what, m, err)
			}
		}
	}
}

// TestNoDescriptor: where none can be made the memory is this process's alone.
func TestNoDescriptor(t *testing.T) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
		t.Skip(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 4096, Max: was.Max}); err != nil {
		t.Skip(err)
	}
	m, err := Make("test", 8192)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err != nil || m.Locator() != (Locator{}) || len(m.Bytes()) != 8192 {
		t.Fatalf("%v, %+v", err, m)
	}
	m.Bytes()[8191] = 1
	m.ReadOnly()
	if err := m.Vacate(); err != nil {
		t.Error(err)
	}
}

// FuzzAt: whatever place is asked for, what is found lies in the memory, and is what was asked for.
func FuzzAt(f *testing.F) {
	f.Add(uint64(0), uint64(4096), uint16(8192))
	f.Add(uint64(4096), uint64(4096), uint16(8192))
	f.Add(uint64(4097), uint64(4096), uint16(8192))
	f.Add(uint64(1<<64-1), uint64(2), uint16(8192))
	f.Add(uint64(1)<<63, uint64(1)<<63, uint16(8192))
	f.Fuzz(func(t *testing.T, place, n uint64, size uint16) {
		m := &Memory{bytes: make([]byte, size)}
		b, ok := m.At(place, n)
		if want := place <= 1<<40 && n <= 1<<40 && place+n <= uint64(size); ok != want {
			t.Errorf("%d bytes at %d of %d: %v", n, place, size, ok)
		}
		if ok && (uint64(len(b)) != n || uint64(cap(b)) != n || n > 0 && &b[0] != &m.bytes[place]) {
			t.Errorf("%d bytes at %d of %d: %d others", n, place, size, len(b))
		}
	})
}
