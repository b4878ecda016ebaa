package launch

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestReadHosts(t *testing.T) {
	got, err := ReadHosts(strings.NewReader("# ours\nnode1 slots=2\n\nnode2:3 # the big one\nnode3\nnode1\n"))
	want := []Host{{"node1", 3}, {"node2", 3}, {"node3", 1}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("read %v, %v; want %v", got, err, want)
	}
	for text, why := range map[string]string{
		"":                   "no host",
		"# a comment":        "no host",
		"node1 slots=0":      "slots=N",
		"node1 slots=many":   "slots=N",
		"node1 cores=4":      "slots=N",
		"ok\nnode1 slots=-1": "line 2",
		"-oProxyCommand=x":   "no name",
		"node1:100000":       "slots=N",
	} {
		if got, err := ReadHosts(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, %v; want an error that says %q", text, got, err, why)
		}
	}
}

func FuzzReadHosts(f *testing.F) {
	f.Add("node1 slots=2\nnode2:3 # x\n")
	f.Fuzz(func(t *testing.T, text string) {
		hosts, err := ReadHosts(strings.NewReader(text))
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, h := range hosts {
			if h.Name == "" || strings.ContainsAny(h.Name, " \t\n") || strings.HasPrefix(h.Name, "-") || h.Slots < 1 || seen[h.Name] {
				t.Errorf("%q gives %v", text, hosts)
			}
			seen[h.Name] = true
		}
	})
}

func TestPortions(t *testing.T) {
	hosts := []Host{{"a", 2}, {"b", 3}, {"c", 1}}
	got, err := divideRanks(hosts, 4)
	if want := []hostPart{{"a", 0, 2}, {"b", 2, 2}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := divideRanks(hosts, 7); err == nil || !strings.Contains(err.Error(), "6 slots") {
		t.Errorf("7 processes on 6 slots: %v", err)
	}
}

// A shell reads what quote writes as the same words.
func TestQuote(t *testing.T) {
	words := []string{"a b", "it's", `"$HOME"`, "", "`id`", "x\ny", "*", "--"}
	out, err := exec.Command("sh", "-c", "printf '%s\\0' "+quote(words)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("the shell has %q, want %q", got, words)
	}
}

func TestLines(t *testing.T) {
	var out bytes.Buffer
	l := NewLines(&out)
	one, two, host := l.Of(1), l.Of(2), l.Of(Relayed)
	fmt.Fprint(one, "a")
	fmt.Fprint(two, "x\ny")
	fmt.Fprint(one, "b\n\n")
	fmt.Fprint(host, "[7] z\n")
	fmt.Fprint(two, strings.Repeat("l", longestLine))
	l.Flush(nil)
	l.Flush(nil)
	want := "[2] x\n[1] ab\n[1] \n[7] z\n[2] y" + strings.Repeat("l", longestLine) + "\n"
	if got := out.String(); got != want {
		t.Errorf("got %.100q (%d bytes), want %.100q (%d bytes)", got, len(got), want, len(want))
	}
}

func TestReadSecret(t *testing.T) {
	r := bufio.NewReader(strings.NewReader("00ff\nrest"))
	if got, err := ReadSecret(r); err != nil || !slices.Equal(got, []byte{0, 255}) {
		t.Errorf("read %v, %v", got, err)
	}
	if rest, _ := r.ReadString(0); rest != "rest" {
		t.Errorf("left %q", rest)
	}
	for _, text := range []string{"", "no hex\n"} {
		if _, err := ReadSecret(bufio.NewReader(strings.NewReader(text))); err == nil {
			t.Errorf("%q is taken for a secret", text)
		}
	}
}
