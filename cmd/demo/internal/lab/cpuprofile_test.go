package lab

import (
	"debug/elf"
	"debug/gosym"
	"errors"
	"os"
	"regexp"
	"testing"

	"github.com/pm2-go/pm2/asm"
)

// TestTimeOf: a sample counts once for each pattern that a function of its stack matches, packed or not, and what is no
// profile is an error.
func TestTimeOf(t *testing.T) {
	text := []byte{
		profileString<<3 | 2, 0,
		profileString<<3 | 2, 4, 'l', 'o', 'c', 'k',
		profileString<<3 | 2, 4, 'w', 'o', 'r', 'k',
		profileFunction<<3 | 2, 4, functionID << 3, 7, functionName << 3, 1,
		profileFunction<<3 | 2, 4, functionID << 3, 8, functionName << 3, 2,
		profileLocation<<3 | 2, 6, locationID << 3, 1, locationLine<<3 | 2, 2, lineFunction << 3, 7,
		profileLocation<<3 | 2, 10, locationID << 3, 2, locationLine<<3 | 2, 2, lineFunction << 3, 8, locationLine<<3 | 2, 2, lineFunction << 3, 7,
		profileLocation<<3 | 2, 6, locationID << 3, 3, locationLine<<3 | 2, 2, lineFunction << 3, 8,
		profileSample<<3 | 2, 8, sampleLocation << 3, 1, sampleLocation << 3, 2, sampleValue << 3, 5, sampleValue << 3, 99, // lock, below work
		profileSample<<3 | 2, 9, sampleLocation<<3 | 2, 3, 3, 3, 2, sampleValue<<3 | 2, 2, 30, 99, // work, above one with lock in it
		profileSample<<3 | 2, 6, sampleLocation << 3, 3, sampleValue << 3, 65, sampleValue << 3, 99,
	}
	x, err := timeOf(text, regexp.MustCompile("^lock$"), regexp.MustCompile("work"), regexp.MustCompile("nothing"))
	if err != nil || x.samples != 100 || x.in[0] != 35 || x.in[1] != 100 || x.in[2] != 0 {
		t.Errorf("%+v, %v", x, err)
	}
	var sum cpuProfile
	sum.add(x)
	sum.add(x)
	if sum.samples != 200 || sum.in[0] != 70 {
		t.Errorf("twice: %+v", sum)
	}
	for _, bad := range [][]byte{{0x80}, {profileString<<3 | 2, 5, 'x'}, {profileString << 3}, {profileString<<3 | 5, 0, 0, 0, 0}, {profileSample<<3 | 2, 3, sampleValue<<3 | 2, 1, 0x80}} {
		if _, err := timeOf(bad); !errors.Is(err, errProfile) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// TestProfiled: samples of what runs name it. The kernel decides when it takes them: so it runs until there are some.
func TestProfiled(t *testing.T) {
	for span := int64(20e6); ; span *= 2 {
		x, err := profiled(func() error { burn(span); return nil }, regexp.MustCompile(`lab\.burn$`))
		if err != nil {
			t.Fatal(err)
		}
		if x.in[0] > 0 && x.in[0] <= x.samples {
			break
		}
		if span > 20e9 {
			t.Fatalf("none of %d samples is in burn", x.samples)
		}
	}
	broken := errors.New("broken")
	if _, err := profiled(func() error { return broken }); err != broken {
		t.Error(err)
	}
}

//go:noinline
func burn(ns int64) {
	for end := asm.Cycles() + asm.ToCycles(ns); asm.Cycles() < end; {
	}
}

// TestLockNames: the functions by whose names time at locks is told are there.
func TestLockNames(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := f.Section(".gopclntab").Data()
	if err != nil {
		t.Fatal(err)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(lines, f.Section(".text").Addr))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*regexp.Regexp{
		"github.com/pm2-go/pm2/nmad/internal/lock.(*Spin).slow":     waitsAtLock,
		"github.com/pm2-go/pm2/nmad/internal/lock.(*Gate).lockSlow": atLock,
		"github.com/pm2-go/pm2/nmad/internal/lock.(*Domain).Lock":   atLock,
		"github.com/pm2-go/pm2/nmad/internal/lock.BackOff":          waitsAtLock,
	} {
		if table.LookupFunc(name) == nil || !p.MatchString(name) {
			t.Errorf("no function is called %s, or %v does not match it", name, p)
		}
	}
}
