package manager

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fake is a process manager in this process: it speaks PMI 1.1 with each rank over a pair of sockets, as hydra's proxy
// does.
type fake struct {
	t       *testing.T
	size    int
	mapping string                                    // value of PMI_process_mapping; "": there is no such key
	flux    bool                                      // it behaves as Flux
	answer  func(rank int, cmd, reply string) *string // what goes out in the place of a reply; nil function: the reply; nil: nothing, and the connection ends

	mu      sync.Mutex
	space   map[string]string
	waiting int
	open    chan struct{} // closed when all are in the barrier
	counts  map[string]int
	aborted []string
}

func newFake(t *testing.T, size int, mapping string) *fake {
	return &fake{t: t, size: size, mapping: mapping, space: map[string]string{}, open: make(chan struct{}), counts: map[string]int{}}
}

// connect starts the conversation with a rank, and returns the environment that the rank gets.
func (f *fake) connect(rank int) func(string) string {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	file := os.NewFile(uintptr(fds[0]), "fake manager")
	conn, err := net.FileConn(file)
	file.Close()
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { conn.Close() })
	go f.serve(rank, conn)
	env := map[string]string{envFD: strconv.Itoa(fds[1]), envRank: strconv.Itoa(rank), envSize: strconv.Itoa(f.size)}
	return func(name string) string { return env[name] }
}

func (f *fake) serve(rank int, conn net.Conn) {
	defer conn.Close()
	in := bufio.NewScanner(conn)
	for in.Scan() {
		if len(in.Text()) >= maxSentBytes {
			f.t.Errorf("rank %d sends a line of %d bytes", rank, len(in.Text())+1)
		}
		l, err := parseLine(in.Text())
		if err != nil {
			f.t.Errorf("rank %d says %q: %v", rank, in.Text(), err)
			return
		}
		reply := f.reply(l)
		if f.answer != nil {
			changed := f.answer(rank, l["cmd"], reply)
			if changed == nil {
				return
			}
			reply = *changed
		}
		if _, err := conn.Write([]byte(reply)); err != nil || l["cmd"] == "finalize" {
			return
		}
	}
}

func (f *fake) reply(l line) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[l["cmd"]]++
	if reply, ok := f.asFlux(l); ok {
		return reply
	}
	switch l["cmd"] {
	case "init":
		return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
	case "get_maxes":
		return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
	case "get_my_kvsname":
		return "kvsname=kvs_4711_0 cmd=my_kvsname\n"
	case "put":
		if len(l["value"]) > 512 {
			f.t.Errorf("a value of %d bytes", len(l["value"]))
		}
		f.space[l["key"]] = l["value"]
		return "cmd=put_result rc=0 msg=success\n"
	case "get":
		value, ok := f.space[l["key"]]
		if l["key"] == mapKey {
			value, ok = f.mapping, f.mapping != ""
		}
		if !ok {
			return "cmd=get_result rc=-1 msg=key not found value=unknown\n"
		}
		return "value=" + value + " rc=0 cmd=get_result\n"
	case "barrier_in":
		open := f.open
		if f.waiting++; f.waiting == f.size {
			f.waiting, f.open = 0, make(chan struct{})
			close(open)
		}
		f.mu.Unlock()
		<-open
		f.mu.Lock()
		return "cmd=barrier_out rc=0\n"
	case "abort":
		f.aborted = append(f.aborted, l["exitcode"])
		return ""
	case "finalize":
		return "cmd=finalize_ack\n"
	}
	f.t.Errorf("unknown command %v", l)
	return ""
}

// each runs call for every rank at once and returns the errors.
func (f *fake) each(call func(ctx context.Context, m Manager) error) []error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	errs := make([]error, f.size)
	var all sync.WaitGroup
	for rank := range errs {
		get := f.connect(rank)
		all.Go(func() {
			m, err := openPMI(ctx, get)
			if err == nil {
				err = call(ctx, m)
			}
			errs[rank] = err
		})
	}
	all.Wait()
	return errs
}

// TestAgree: jobs of several shapes agree on one secret and one address, with as few questions as doc.go says.
func TestAgree(t *testing.T) {
	for _, c := range []struct {
		size    int
		mapping string
		hosts   int
	}{
		{1, "(vector,(0,1,1))", 1},
		{4, "(vector,(0,1,4))", 1},
		{6, "(vector,(0,3,2))", 3},
		{5, "(vector,(0,2,1))", 2}, // dealt out in turn
		{3, "", 3},
		{64, "(vector,(0,4,16))", 4},
		{1000, "(vector,(0,10,100))", 10},
	} {
		t.Run(fmt.Sprint(c.size, c.mapping), func(t *testing.T) {
			f := newFake(t, c.size, c.mapping)
			meetings := make([]*Meeting, c.size)
			for rank, err := range f.each(func(ctx context.Context, m Manager) (err error) {
				if meetings[m.Rank()], err = Agree(ctx, m, ""); err == nil {
					err = m.Finalize(ctx)
				}
				return err
			}) {
				if err != nil {
					t.Fatalf("rank %d: %v", rank, err)
				}
			}
			defer meetings[0].Listener.Close()
			for rank, m := range meetings {
				if m.Addr != meetings[0].Listener.Addr().String() || string(m.Secret) != string(meetings[0].Secret) || len(m.Secret) != 32 || m.Hosts != c.hosts {
					t.Errorf("rank %d: %+v, rank 0: %+v", rank, m, meetings[0])
				}
				if host, _, err := net.SplitHostPort(m.Listen[0]); err != nil || host != "127.0.0.1" {
					t.Errorf("rank %d is to listen at %v, though all are on this host", rank, m.Listen)
				}
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			puts, gets := 1, c.size-1 // all but rank 0 hear the meeting
			if c.hosts > 1 {
				puts, gets = puts+c.hosts, gets+c.hosts-1
			}
			if gets += c.size; f.counts["put"] != puts || f.counts["get"] != gets { // one for the mapping each
				t.Errorf("%d puts and %d gets, want %d and %d", f.counts["put"], f.counts["get"], puts, gets)
			}
		})
	}
}

// TestBadManager: whatever the manager does wrong is told as what it was, where, and in time.
func TestBadManager(t *testing.T) {
	say := func(s string) *string { return &s }
	only := func(cmd string, change func(reply string) *string) func(int, string, string) *string {
		return func(rank int, c, reply string) *string {
			if c == cmd && rank == 1 {
				return change(reply)
			}
			return &reply
		}
	}
	for name, c := range map[string]struct {
		mapping string
		answer  func(rank int, cmd, reply string) *string
		want    []string // what the error of rank 1 says
	}{
		"dies at the start":     {"", only("init", func(string) *string { return nil }), []string{"init", "ended the connection"}},
		"dies at a put":         {"", only("put", func(string) *string { return nil }), []string{"put", "ended the connection"}},
		"dies in the barrier":   {"", only("barrier_in", func(string) *string { return nil }), []string{"barrier_in", "ended the connection"}},
		"one never joins":       {"", only("barrier_in", func(string) *string { return say("") }), []string{"wait for all processes of the job", "not all 2 have come"}},
		"cuts a line":           {"", only("get_my_kvsname", func(string) *string { return say("cmd=my_kvs") }), []string{"get_my_kvsname", "no answer"}},
		"another answer":        {"", only("get_maxes", func(string) *string { return say("cmd=get_result rc=0 value=x\n") }), []string{"get_maxes", `answers "get_result"`, `"maxes" was expected`}},
		"two answers":           {"", only("get_maxes", func(r string) *string { return say(r + "cmd=barrier_out\n") }), []string{"barrier_out", "nothing asked for"}},
		"other version":         {"", only("init", func(string) *string { return say("cmd=response_to_init rc=-1 pmi_version=2 pmi_subversion=0\n") }), []string{"refuses", "rc=-1"}},
		"absurd bounds":         {"", only("get_maxes", func(string) *string { return say("cmd=maxes kvsname_max=256 keylen_max=-4 vallen_max=1024\n") }), []string{"keylen_max=", "expected"}},
		"no key space":          {"", only("get_my_kvsname", func(string) *string { return say("cmd=my_kvsname kvsname=\n") }), []string{"ask for the key space", `its name is ""`}},
		"a key space of bytes":  {"", only("get_my_kvsname", func(string) *string { return say("cmd=my_kvsname kvsname=a\x01b\n") }), []string{"ask for the key space", `its name is "a\x01b"`}},
		"no bounds":             {"", only("get_maxes", func(string) *string { return say("cmd=maxes\n") }), []string{"keylen_max is missing"}},
		"no words":              {"", only("get_maxes", func(string) *string { return say("hello there\n") }), []string{"not key=value"}},
		"the same word twice":   {"", only("get_maxes", func(string) *string { return say("cmd=maxes cmd=maxes\n") }), []string{"twice"}},
		"a line without end":    {"", only("get_maxes", func(string) *string { return say("cmd=" + strings.Repeat("x", 1<<16)) }), []string{"more than 4096 bytes"}},
		"many words":            {"", only("get_maxes", func(string) *string { return say(strings.Repeat("a=b ", 100) + "\n") }), []string{"100 words"}},
		"refuses a put":         {"", only("put", func(string) *string { return say("cmd=put_result rc=-1 msg=no space left\n") }), []string{"put", "refuses", "no space left"}},
		"refuses a barrier":     {"", only("barrier_in", func(string) *string { return say("cmd=barrier_out rc=5\n") }), []string{"barrier_in", "rc=5"}},
		"a mapping of nonsense": {"(vector,(0,0,0))", nil, []string{"where the ranks are", "out of range"}},
		"a meeting of nonsense": {"", func(rank int, cmd, reply string) *string {
			if cmd == "get" && rank == 1 && strings.Contains(reply, ";127") {
				return say("cmd=get_result rc=0 value=gibberish\n")
			}
			return &reply
		}, []string{"not of this protocol"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // rank 0 waits for what does not come
			f := newFake(t, 2, c.mapping)
			f.answer = c.answer
			began := time.Now()
			ctx, cancel := context.WithCancel(context.Background())
			errs := make([]error, 2)
			var all sync.WaitGroup
			for rank := range errs {
				get := f.connect(rank)
				all.Go(func() {
					within, stop := context.WithTimeoutCause(ctx, time.Second, fmt.Errorf("the time is up"))
					defer stop()
					m, err := openPMI(within, get)
					if err == nil {
						var meeting *Meeting
						if meeting, err = Agree(within, m, ""); meeting != nil && meeting.Listener != nil {
							meeting.Listener.Close()
						}
						m.conn.Close()
					}
					errs[rank] = err
				})
			}
			all.Wait()
			cancel()
			if errs[1] == nil {
				t.Fatal("rank 1 joined")
			}
			text := errs[1].Error()
			for _, want := range append(c.want, "PMI 1.1 (PMI_FD=") {
				if !strings.Contains(text, want) {
					t.Errorf("%s\nlacks %q", text, want)
				}
			}
			if len(text) > 500 || strings.Contains(text, "\n") {
				t.Errorf("no line for people: %s", text)
			}
			t.Log(text, time.Since(began))
		})
	}
}

// TestSlowManager: a manager that takes its time, and sends its lines in pieces, is as good as another one.
func TestSlowManager(t *testing.T) {
	f := newFake(t, 3, "(vector,(0,1,3))")
	f.answer = func(_ int, _, reply string) *string {
		time.Sleep(20 * time.Millisecond)
		return &reply
	}
	for rank, err := range f.each(func(ctx context.Context, m Manager) error {
		meeting, err := Agree(ctx, m, "")
		if err == nil && meeting.Listener != nil {
			meeting.Listener.Close()
		}
		return err
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestGone: the end of the manager is noticed though nothing is asked of it; its farewell is none.
func TestGone(t *testing.T) {
	f := newFake(t, 2, "")
	f.answer = func(rank int, cmd, reply string) *string {
		if rank == 0 && cmd == "abort" {
			return nil
		}
		return &reply
	}
	f.each(func(ctx context.Context, m Manager) error {
		if m.Rank() == 0 {
			if err := m.Abort(7, "a test"); err != nil {
				t.Error(err)
			}
			<-m.Gone()
			if err := m.Put(ctx, "k", "v"); err == nil {
				t.Error("put something after the end")
			}
			return nil
		}
		if err := m.Finalize(ctx); err != nil {
			t.Error(err)
		}
		select {
		case <-m.Gone():
			t.Error("the end after the farewell counts as one")
		case <-time.After(50 * time.Millisecond):
		}
		return nil
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.aborted) != 1 || f.aborted[0] != "7" {
		t.Errorf("aborted with %v", f.aborted)
	}
}
