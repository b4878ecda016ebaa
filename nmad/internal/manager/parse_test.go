package manager

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
)

func TestMapping(t *testing.T) {
	for text, want := range map[string][]int{
		"(vector,(0,1,4))":         {0, 0, 0, 0},
		"(vector,(0,2,2))":         {0, 0, 1, 1},
		"(vector,(0,2,1))":         {0, 1, 0, 1},
		"(vector,(0,1,1),(1,1,3))": {0, 1, 1, 1},
		"(vector,(3,1,9))":         {3, 3, 3, 3},
	} {
		if got, err := parseMapping(text, 4); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "vector", "(vector,)", "(vector,())", "(vector,(0,1))", "(vector,(0,1,1)(0,1,1))", "(vector,(0,1,1),)", "(vector,(-1,1,1))",
		"(vector,(0,0,1))", "(vector,(0,1,0))", "(vector,(0,99999999999999999999,1))", "(vector,(0,65536,1),(1,65536,1))", "(vector,(0,1,1)", "(vector,(0,1,1)) "} {
		if got, err := parseMapping(text, 4); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestCommon(t *testing.T) {
	h := func(id string, addrs ...string) host {
		h := host{id: id}
		for _, a := range addrs {
			h.addrs = append(h.addrs, netip.MustParsePrefix(a))
		}
		return h
	}
	for _, c := range []struct {
		name  string
		hosts []host
		want  string
	}{
		{"one host", []host{h("a", "10.0.0.1/24")}, "lo"},
		{"one host by two names", []host{h("a", "10.0.0.1/24"), h("a", "10.0.0.1/24")}, "lo"},
		{"two hosts", []host{h("a", "10.0.0.1/24", "10.1.0.1/24"), h("b", "10.1.0.2/24", "10.0.0.2/24")}, "10.0.0.0/24,10.1.0.0/24"},
		{"bridges of containers", []host{h("a", "172.17.0.1/16", "10.0.0.1/24"), h("b", "172.17.0.1/16", "10.0.0.2/24")}, "10.0.0.0/24"},
		{"one of three lacks it", []host{h("a", "10.0.0.1/24", "10.1.0.1/24"), h("b", "10.0.0.2/24"), h("c", "10.0.0.3/24", "10.1.0.3/24")}, "10.0.0.0/24"},
		{"routers between", []host{h("a", "10.0.0.1/24"), h("b", "10.1.0.2/24")}, "*"},
		{"nothing", []host{h("a"), h("b")}, "*"},
	} {
		if got := strings.Join(common(c.hosts), ","); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestFind: what each environment says.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		env  string
		want Kind
	}{
		{"", Alone},
		{"PM2_RANK=1 PMI_FD=5", Ours}, // our launcher, started by hydra
		{"JOB_COMPLETION_INDEX=1 PM2_SIZE=2 PM2_RENDEZVOUS=job-0.job:1", Indexed},
		{"JOB_COMPLETION_INDEX=1 PM2_SIZE=2 PM2_RANK=0", Ours}, // our launcher, in a pod
		{"JOB_COMPLETION_INDEX=1 PMI_FD=5", PMI},               // hydra in a pod
		{"JOB_COMPLETION_INDEX=1", Alone},
		{"PMI_FD=5 PMI_RANK=0 PMI_SIZE=1 PMIX_NAMESPACE=x", PMI},
		{"PMI_PORT=h:1 PMI_ID=0", PMI},
		{"PMIX_NAMESPACE=x PMIX_RANK=0", PMIx},
		{"SLURM_PROCID=0 SLURM_NTASKS=4", Alone}, // a batch script: it has no step
		{"SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4", Mute},
		{"SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1", Alone},
		{"FLUX_JOB_ID=f2 FLUX_TASK_RANK=0 FLUX_JOB_SIZE=4 PMI_FD=9 PMI_RANK=0 PMI_SIZE=4", PMI},
		{"FLUX_JOB_ID=f2 FLUX_TASK_RANK=0 FLUX_JOB_SIZE=4", Mute}, // flux run -o pmi=none
		{"FLUX_URI=local:///run/flux/local", Alone},               // a batch script
		{"OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0", Mute},
	} {
		f := Find(func(name string) string {
			for word := range strings.FieldsSeq(c.env) {
				if n, v, _ := strings.Cut(word, "="); n == name {
					return v
				}
			}
			return ""
		})
		if f.Kind != c.want || (f.Kind == Mute) != (f.Lack != "") || (f.Kind == Alone) != (len(f.By) == 0) {
			t.Errorf("%q: %+v, want %v", c.env, f, c.want)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"cmd=init rc=0", "rc=-1 msg=key not found cmd=get_result", "=", "a", "cmd=", "cmd=x cmd=y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parseLine(text)
		if err != nil {
			if len(err.Error()) > 400 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if l["cmd"] == "" || len(l) > maxWords {
			t.Errorf("%q: %v", text, l)
		}
		if n, err := l.number("rc", -3, 3); err == nil && (n < -3 || n > 3) {
			t.Errorf("%q: %d", text, n)
		}
		_ = l.refusal()
	})
}

func FuzzMapping(f *testing.F) {
	for _, s := range []string{"(vector,(0,1,4))", "(vector,(0,2,2),(1,1,1))", "(vector,(0,65536,65536))"} {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 1 || size > 1000 {
			return
		}
		nodes, err := parseMapping(text, size)
		if err == nil && (len(nodes) != size || slices.Min(nodes) < 0 || slices.Max(nodes) >= driver.MaxSize) {
			t.Errorf("%q, %d: %v", text, size, nodes)
		}
	})
}

func FuzzHost(f *testing.F) {
	f.Add("0011;10.0.0.1/24,10.1.0.1/16")
	f.Add("0011;")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseHost(text)
		if err != nil {
			return
		}
		again, err := parseHost(h.String())
		if err != nil || again.String() != h.String() || len(h.addrs) > maxNetworks {
			t.Errorf("%q: %v, %v", text, h, err)
		}
		common([]host{h, {id: "other", addrs: h.addrs}})
	})
}
