package manager

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// connectTo starts a conversation of a server with a rank, and returns the environment that the rank gets.
func connectTo(t *testing.T, s *Server, rank int) func(string) string {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fds[0]), "server")
	conn, err := net.FileConn(file)
	file.Close()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = s.Serve(rank, conn) }() // what it brings is seen at the client
	env := map[string]string{}
	for _, v := range s.Environment(rank, fds[1]) {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	return func(name string) string { return env[name] }
}

// TestServeOurs: our own client understands the server: rank, size, place, put, get, barrier, end.
func TestServeOurs(t *testing.T) {
	const n = 3
	s := NewServer(n, func(int) int { return 0 }, func(int, int) { t.Error("aborted") })
	var all sync.WaitGroup
	for rank := range n {
		get := connectTo(t, s, rank)
		all.Add(1)
		go func() {
			defer all.Done()
			ctx := context.Background()
			p, err := openPMI(ctx, get)
			if err != nil {
				t.Error(err)
				return
			}
			if p.Rank() != rank || p.Size() != n {
				t.Errorf("rank %d of %d, want %d of %d", p.Rank(), p.Size(), rank, n)
			}
			key := "key" + strconv.Itoa(rank)
			if err := p.Put(ctx, key, "value="+strconv.Itoa(rank)); err != nil {
				t.Error(err)
			}
			if err := p.Fence(ctx); err != nil {
				t.Error(err)
			}
			next := (rank + 1) % n
			if v, err := p.Get(ctx, 0, "key"+strconv.Itoa(next)); err != nil || v != "value="+strconv.Itoa(next) {
				t.Errorf("got %q, %v", v, err)
			}
			if err := p.Finalize(ctx); err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
}

// TestServeLines: what else there is to say, line by line, also nonsense, which ends the conversation with an error.
func TestServeLines(t *testing.T) {
	aborted := make(chan int, 3)
	s := NewServer(2, func(rank int) int { return 7 + rank }, func(rank, status int) { aborted <- 1000*rank + status })
	long := strings.Repeat("x", maxServedValue+1)
	for _, c := range []struct{ say, answer, err string }{
		{"cmd=get_appnum\n", "cmd=appnum appnum=8\n", ""},
		{"cmd=get_universe_size\n", "cmd=universe_size size=2\n", ""},
		{"cmd=get kvsname=k key=PMI_process_mapping\n", "cmd=get_result rc=0 msg=success value=(vector,(0,1,2))\n", ""},
		{"cmd=get kvsname=k key=none\n", "cmd=get_result rc=-1 msg=key_not_found value=unknown\n", ""},
		{"cmd=put kvsname=k key=a value=" + long + "\n", "cmd=put_result rc=-1 msg=too_much\n", ""},
		{"cmd=publish_name service=s port=p\n", "cmd=publish_result rc=-1 msg=this_launcher_does_not_offer_it\n", ""},
		{"mcmd=spawn\nnprocs=2\nendcmd\n", "cmd=spawn_result rc=-1 msg=this_launcher_adds_no_processes_to_a_job\n", ""},
		{"cmd=abort exitcode=5\n", "", ""},
		{"cmd=abort exitcode=42 message=application called MPI_Abort(MPI_COMM_WORLD, 42) - process 1 cmd= exitcode=7\n", "", ""},
		{"cmd=abort exitcode=43 message=" + strings.Repeat("long ", maxLineBytes), "", ""},
		{"mcmd=spawn\narg=" + strings.Repeat("z", maxLineBytes), "", fmt.Sprintf("PMI: rank 1: a command with a line of more than %d bytes", maxLineBytes)},
		{"nonsense\n", "", `PMI: rank 1: the word "nonsense" is not key=value`},
		{strings.Repeat("y", maxLineBytes+1), "", fmt.Sprintf("PMI: rank 1 sends a line of more than %d bytes", maxLineBytes)},
	} {
		here, there := net.Pipe()
		over := make(chan error, 1)
		go func() {
			joined, err := s.Serve(1, there)
			if joined {
				t.Errorf("%.60q makes rank 1 one that others wait for", c.say)
			}
			over <- err
		}()
		go func() { _, _ = io.WriteString(here, c.say) }()
		if c.answer != "" {
			if text, err := bufio.NewReader(here).ReadString('\n'); text != c.answer || err != nil {
				t.Errorf("%.60q is answered by %q, %v, want %q", c.say, text, err, c.answer)
			}
			here.Close()
		}
		if err := <-over; fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
			t.Errorf("%.60q ends with %v, want %s", c.say, err, c.err)
		}
		here.Close()
	}
	for _, want := range []int{1005, 1042, 1043} {
		if got := <-aborted; got != want {
			t.Errorf("the job is aborted with %d, want %d: 1000 times the rank, and the status", got, want)
		}
	}
}

// TestServeLeft: of a rank that has said init its going without finalize is told, however it goes.
func TestServeLeft(t *testing.T) {
	s := NewServer(1, func(int) int { return 0 }, func(int, int) {})
	const join = "cmd=init pmi_version=1 pmi_subversion=1\n"
	for _, c := range []struct {
		say, err string
		joined   bool
	}{
		{"", "", false},
		{join, "PMI: rank 0 has ended, or closed its connection, without finalize: have the program call MPI_Finalize", true},
		{join + "cmd=get_maxes\nmcmd=spawn\n", "PMI: rank 0 has ended, or closed its connection, without finalize: have the program call MPI_Finalize", true},
		{join + "nonsense\n", `PMI: rank 0: the word "nonsense" is not key=value`, true},
		{join + strings.Repeat("y", maxLineBytes+1), fmt.Sprintf("PMI: rank 0 sends a line of more than %d bytes", maxLineBytes), true},
		{join + "cmd=get_maxes\ncmd=finalize\n", "", false}, // and the answers are not read
	} {
		joined, err := s.Serve(0, &gone{Reader: strings.NewReader(c.say)})
		if joined != c.joined || fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
			t.Errorf("%.60q: %v, %v; want %v, %s", c.say, joined, err, c.joined, c.err)
		}
	}
}

// gone is a connection whose other end has said all, and has gone.
type gone struct{ io.Reader }

func (*gone) Write([]byte) (int, error) { return 0, syscall.EPIPE }
func (*gone) Close() error              { return nil }

// TestServeKeys: a rank that puts too many keys leaves room for the others'.
func TestServeKeys(t *testing.T) {
	s := NewServer(2, func(int) int { return 0 }, func(int, int) {})
	put := func(rank, key int) bool {
		return strings.Contains(s.put(rank, line{"key": strconv.Itoa(key), "value": "v"}), "rc=0")
	}
	for i := range maxKeys {
		if !put(0, i) {
			t.Fatalf("key %d of rank 0 is refused", i)
		}
	}
	if put(0, maxKeys) || !put(0, 0) || !put(1, maxKeys) {
		t.Error("of a rank with all its keys a new one is taken, or an old one or another rank's refused")
	}
}
