package nmad

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
)

func TestCrossing(t *testing.T) {
	for _, c := range []struct {
		points []Cost
		want   int
	}{
		{[]Cost{{1, 5, 9}, {2, 5, 9}, {4, 9, 9}, {8, 10, 9}}, 4},
		{[]Cost{{1, 5, 9}, {2, 10, 9}, {4, 8, 9}, {8, 10, 9}}, 4}, // one odd point
		{[]Cost{{1, 10, 9}, {2, 10, 9}}, 1},
		{[]Cost{{1, 1, 9}, {2, 1, 9}}, 2},
	} {
		if got := crossing(c.points); got != c.want {
			t.Errorf("%v: %d, want %d", c.points, got, c.want)
		}
	}
}

// What is measured is saved, read again by the next session, and then explains itself.
func TestSample(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		var rail Rail
		var errs [2]error
		each(2, func(rank int) {
			g := j.sessions[rank].Gate(1 - rank)
			if rank == 0 {
				rail, errs[0] = g.Sample(t.Context())
			} else {
				errs[1] = g.SampleEcho(t.Context())
			}
		})
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		most := j.sessions[0].Gate(1).tx.room
		if last := rail.Points[len(rail.Points)-1]; last.Size != most || rail.Eager < 1 || rail.Eager > most {
			t.Errorf("measured up to %d, eager up to %d, the link takes %d", last.Size, rail.Eager, most)
		}
		j.close()
		rail.Eager = 77
		file := filepath.Join(t.TempDir(), "profile.json")
		if err := (&Profile{Rails: map[string]Rail{d.Name(): rail}}).Save(file); err != nil {
			t.Fatal(err)
		}
		j = newJob(t, 2, d, func(c *Config) { c.Profile = file })
		p := j.sessions[0].Gate(1).Protocols()
		if len(p) != 2 || p[0].To != 77 || p[1].From != 78 || p[0].Why != "measured, "+file || p[0].Rail != d.Name() {
			t.Errorf("%+v", p)
		}
		j.close()
	})
}

func TestLoadProfile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"not json": "{", "limit": `{"rails": {"x": {"eager": 0}}}`, "number": `{"rails": 7}`} {
		file := filepath.Join(dir, "p")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadProfile(file); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", name, err)
		}
	}
	for _, file := range []string{filepath.Join(dir, "nothing"), dir} {
		if _, err := LoadProfile(file); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", file, err)
		}
	}
	if _, err := Open(context.Background(), Config{Size: 1, Strategy: "agregation"}); !errors.Is(err, ErrConfig) {
		t.Errorf("a strategy that is none: %v, want ErrConfig", err)
	}
}
