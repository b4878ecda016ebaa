package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

var (
	rates    = flag.String("rates", "", "measure rails of these rates, such as 1gbit,500mbit (tc's notation), instead of testing")
	size     = flag.Int("size", 4<<20, "with -rates: bytes of a message")
	rounds   = flag.Int("rounds", 15, "with -rates: messages in each direction, in each repetition")
	measured = flag.Bool("measured", true, "with -rates: measure the rails first, as demo explain-protocol --measure does")
	repeats  = flag.Int("repeats", 5, "with -rates: repetitions, of all sets of rails in turn")
)

// finding is what rank 0 has to say about an exchange.
type finding struct {
	Nanoseconds []int64 // half round trips
	Stats       nmad.Stats
	Rails       []nmad.RailInfo
}

// swap has two ranks send messages of that size to and fro; every byte is looked at. Rank 0
// writes its finding.
func swap(size, rounds int) error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	defer s.Close()
	stop, err := pioman.Enable()
	if err != nil {
		return err
	}
	defer stop()
	g := s.Gate(1 - s.Rank())
	if file := os.Getenv(sampleVariable); file != "" {
		return sample(g, file)
	}
	out, in := make([]byte, size), make([]byte, size)
	for i := range out {
		out[i] = byte(i*7 + i>>8 + i>>16)
	}
	f := finding{}
	for i := range rounds {
		clear(in)
		recv := g.Irecv(1, in)
		began := time.Now()
		if s.Rank() == 1 {
			if err := recv.Wait(); err != nil {
				return err
			}
		}
		if err := g.Send(1, out); err != nil {
			return err
		}
		if err := recv.Wait(); err != nil {
			return err
		}
		if i > 0 || rounds == 1 { // the first one warms up
			f.Nanoseconds = append(f.Nanoseconds, int64(time.Since(began))/2)
		}
		if !bytes.Equal(in, out) {
			return fmt.Errorf("rank %d, message %d: the bytes differ", s.Rank(), i)
		}
		if err := g.Send(2, nil); err != nil { // both have looked at the bytes
			return err
		}
		if _, err := g.Recv(2, nil); err != nil {
			return err
		}
	}
	f.Stats, f.Rails = g.Stats(), g.Info().Rails
	if s.Rank() == 0 {
		if err := json.NewEncoder(os.Stdout).Encode(f); err != nil {
			return err
		}
	}
	return s.Close()
}

// sampleVariable names the file into which swap is to save what it measures of the rails,
// instead of exchanging messages.
const sampleVariable = "RAILS_SAMPLE"

func sample(g *nmad.Gate, file string) error {
	if g.Rank() == 0 {
		return g.SampleEcho(context.Background())
	}
	profile, err := g.Sample(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("{}")
	return profile.Save(file)
}

// link joins the two hosts of p by a further pair of devices, number k from 1 on.
func (p *pair) link(t *testing.T, k int) {
	t.Helper()
	steps := []string{fmt.Sprintf("link add veth%d netns %s type veth peer name veth%d netns %s", k, p.spaces[0], k, p.spaces[1])}
	for i, s := range p.spaces {
		steps = append(steps,
			fmt.Sprintf("-n %s address add %s/24 dev veth%d", s, address(k, i), k),
			fmt.Sprintf("-n %s link set veth%d up", s, k))
	}
	for _, step := range steps {
		if out, err := exec.Command("ip", strings.Fields(step)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", step, err, out)
		}
	}
}

// address is that of a host on a link.
func address(link, host int) string { return fmt.Sprintf("10.%d.0.%d", 77+link, host+1) }

// exchange runs swap between the hosts, over those links, and returns what rank 0 found.
func (p *pair) exchange(t *testing.T, links []int, size, rounds int, env ...string) finding {
	t.Helper()
	var commands [2]*exec.Cmd
	var out, errs [2]bytes.Buffer
	for i := range commands {
		var listen, driver []string
		for _, k := range links {
			listen, driver = append(listen, address(k, i)+":0"), append(driver, "tcp")
		}
		c := p.on(i, os.Args[0], "swap", strconv.Itoa(size), strconv.Itoa(rounds))
		c.Env = append(os.Environ(), env...)
		for name, value := range map[string]string{
			nmad.EnvRank: strconv.Itoa(i), nmad.EnvSize: "2", nmad.EnvRendezvous: address(0, 0) + ":7079",
			nmad.EnvSecret: strings.Repeat("5a", 32), nmad.EnvListen: strings.Join(listen, ","), nmad.EnvDriver: strings.Join(driver, ","),
		} {
			c.Env = append(c.Env, name+"="+value)
		}
		c.Stdout, c.Stderr = &out[i], &errs[i]
		commands[i] = c
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		hangs := time.AfterFunc(2*time.Minute, func() { _ = c.Process.Kill() })
		defer hangs.Stop()
	}
	for i, c := range commands {
		if err := c.Wait(); err != nil {
			t.Errorf("rank %d: %v: %s", i, err, &errs[i])
		}
	}
	var f finding
	if err := json.Unmarshal(out[0].Bytes(), &f); err != nil {
		t.Fatalf("rank 0 says %q: %v", &out[0], err)
	}
	return f
}

// Two links between two hosts, a rail over each: all bytes arrive, and both rails carry
// some of them.
func TestRails(t *testing.T) {
	if *rates != "" {
		t.Skip("it measures")
	}
	p := newPair(t)
	p.link(t, 1)
	f := p.exchange(t, []int{0, 1}, 4<<20, 3)
	for i, r := range f.Stats.Rails[:2] {
		if r.BytesSent == 0 || r.BytesReceived == 0 {
			t.Errorf("rail %d: %+v", i, r)
		}
	}
	if sent, want := f.Stats.Rails[0].BytesSent+f.Stats.Rails[1].BytesSent, uint64(3*4<<20); sent != want {
		t.Errorf("%d bytes went over the rails, want %d", sent, want)
	}
	if len(f.Rails) != 2 || f.Rails[0].Name != "tcp" || f.Rails[1].Name != "tcp#2" {
		t.Errorf("the rails are %+v", f.Rails)
	}
}

// TestRates measures what rails of given rates make of a message together, and what each does
// alone: go test ./test/hosts -run TestRates -v -rates 1gbit,1gbit. The rates are those of
// token buckets (tc-tbf), whose buckets hold burst bytes.
func TestRates(t *testing.T) {
	if *rates == "" {
		t.Skip("it measures: give -rates 1gbit,1gbit")
	}
	const burst = 96 << 10
	p := newPair(t)
	all := strings.Split(*rates, ",")
	sets := [][]int{nil}
	for k, rate := range all {
		if k > 0 {
			p.link(t, k)
		}
		for _, s := range p.spaces {
			words := fmt.Sprintf("-n %s qdisc replace dev veth%d root tbf rate %s burst %d latency 50ms", s, k, rate, burst)
			if out, err := exec.Command("tc", strings.Fields(words)...).CombinedOutput(); err != nil {
				t.Skipf("tc %s: %v: %s", words, err, out)
			}
		}
		sets[0] = append(sets[0], k)
		sets = append(sets, []int{k})
	}
	profile := filepath.Join(t.TempDir(), "profile")
	if *measured {
		p.exchange(t, sets[0], *size, 0, sampleVariable+"="+profile)
	} else if err := (&nmad.Profile{}).Save(profile); err != nil {
		t.Fatal(err)
	}
	found := make([][]float64, len(sets)) // MB/s
	for range *repeats {
		for i, links := range sets {
			f := p.exchange(t, links, *size, *rounds, nmad.EnvProfile+"="+profile)
			slices.Sort(f.Nanoseconds)
			found[i] = append(found[i], float64(*size)/float64(f.Nanoseconds[len(f.Nanoseconds)/2])*1e3)
			for k := range links {
				r, l := f.Stats.Rails[k], f.Rails[k]
				t.Logf("rails %v: %.1f MB/s; rail %d: %d bytes in %d chunks received; latency %d ns, %.3f GB/s, share %.2f, %s",
					links, found[i][len(found[i])-1], links[k], r.BytesReceived, r.ChunksReceived, l.Latency, l.Bandwidth, l.Share, l.Why)
			}
		}
	}
	median := make([]float64, len(sets))
	sum, most := 0.0, 0.0
	for i := range sets {
		slices.Sort(found[i])
		median[i] = found[i][len(found[i])/2]
		if i > 0 {
			t.Logf("rail %d alone, %s: %.1f MB/s (%.1f to %.1f)", i-1, all[i-1], median[i], found[i][0], found[i][len(found[i])-1])
			sum, most = sum+median[i], max(most, median[i])
		}
	}
	t.Logf("together: %.1f MB/s (%.1f to %.1f), %.2f times the faster one, %.2f of the sum of all",
		median[0], found[0][0], found[0][len(found[0])-1], median[0]/most, median[0]/sum)
}
