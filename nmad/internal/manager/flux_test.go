package manager

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// asFlux is the reply where Flux, which has never been tried here, differs from hydra as far as is written (its RFC 13,
// flux-environment(7), traces that people have shown): the key space has a name beyond ASCII; there is nothing in a reply
// that PMI does not demand; a key is put once; a key whose name begins with PMI_ has an empty value if it is not there, as
// has the mapping if it does not fit; and an abort is answered by an empty line.
func (f *fake) asFlux(l line) (reply string, ok bool) {
	if !f.flux {
		return "", false
	}
	switch key := l["key"]; l["cmd"] {
	case "get_maxes":
		return "cmd=maxes rc=0 kvsname_max=64 keylen_max=64 vallen_max=1024\n", true
	case "get_my_kvsname":
		return "cmd=my_kvsname rc=0 kvsname=ƒ2vPBp9Sm\n", true
	case "put":
		if _, twice := f.space[key]; twice {
			f.t.Errorf("%s is put twice", key)
		}
		f.space[key] = l["value"]
		return "cmd=put_result rc=0\n", true
	case "get":
		value, there := f.space[key]
		switch {
		case key == mapKey && len(f.mapping) < 1024:
			value = f.mapping
		case key == "flux.instance-level":
			value = "0"
		case !there && !strings.HasPrefix(key, "PMI_"):
			return "cmd=get_result rc=4\n", true
		}
		return "cmd=get_result rc=0 value=" + value + "\n", true
	case "abort":
		f.aborted = append(f.aborted, l["exitcode"])
		return "\n", true
	}
	return "", false
}

// TestFlux: jobs of a manager that behaves as Flux, dealt out in blocks, in turn, and in turn so often that the mapping
// does not fit.
func TestFlux(t *testing.T) {
	for _, c := range []struct {
		size    int
		mapping string
		hosts   int
	}{
		{8, "(vector,(0,2,4))", 2},
		{8, "(vector,(0,2,1),(0,2,1),(0,2,1),(0,2,1))", 2},
		{400, "(vector" + strings.Repeat(",(0,2,1)", 200) + ")", 400}, // not known: each is taken for a host
	} {
		t.Run(fmt.Sprint(c.size, " in ", c.hosts), func(t *testing.T) {
			f := newFake(t, c.size, c.mapping)
			f.flux = true
			secrets := make([]string, c.size)
			for rank, err := range f.each(func(ctx context.Context, m Manager) error {
				meeting, err := Agree(ctx, m, "")
				if err != nil {
					return err
				}
				if meeting.Listener != nil {
					meeting.Listener.Close()
				}
				if meeting.Hosts != c.hosts || meeting.Listen[0] != "127.0.0.1:0" {
					t.Errorf("rank %d: %d hosts, listens at %v", m.Rank(), meeting.Hosts, meeting.Listen)
				}
				secrets[m.Rank()] = string(meeting.Secret)
				return m.Finalize(ctx)
			}) {
				if err != nil {
					t.Fatalf("rank %d: %v", rank, err)
				}
			}
			if n := len(slices.Compact(secrets)); n != 1 || secrets[0] == "" {
				t.Errorf("%d secrets", n)
			}
		})
	}
}

// TestFluxAbort: the answer to an abort, an empty line, is no nonsense.
func TestFluxAbort(t *testing.T) {
	f := newFake(t, 1, "(vector,(0,1,1))")
	f.flux = true
	for _, err := range f.each(func(ctx context.Context, m Manager) error {
		if err := m.Abort(7, "a test"); err != nil {
			return err
		}
		level, err := m.Get(ctx, 0, "flux.instance-level") // comes after it
		if level != "0" {
			t.Errorf("level %q", level)
		}
		return err
	}) {
		if err != nil {
			t.Error(err)
		}
	}
}
