package manager

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Server is the manager's side of PMI 1.1. Our launcher uses it for programs of other libraries, all of whose processes
// run on one host. Each process of the job has a connection of its own:
//
//	open --- init ---> joined --- finalize, abort ---> closed
//	open --- the connection ends, or brings a line that is no command ---> closed
//	joined --- the connection ends, or brings a line that is no command ---> closed
//
// A process that ends in the last of these ways has not sent finalize, so others may wait for it in the barrier.
//
// A Server has a key space and a barrier. It refuses to add processes to a job, and to publish names. Safe for
// concurrent use.
type Server struct {
	size  int
	name  string                 // of the key space
	app   func(rank int) int     // returns the program of the command line that a rank runs
	abort func(rank, status int) // called when a rank asks for the end of the job

	mu      sync.Mutex        // guards the fields below
	space   map[string]string // the values that were put, by key
	keys    map[int]int       // number of keys that a rank has put, by rank
	waiting map[int]io.Writer // the connections of the ranks that wait in the barrier, by rank
}

// Limits of what a client may send.
const (
	maxServedKey   = 64   // longest key, in bytes
	maxServedValue = 1024 // longest value, in bytes; every client has room for it
	maxSpawnLines  = 4096 // number of lines of a command spawn
	maxKeys        = 4096 // number of keys that a rank may put; putting one of them again does not count
)

// initReply is the beginning of the answer to init.
const initReply = "cmd=response_to_init"

// NewServer returns the server of a job of size processes. app returns which program of the command line a rank runs;
// the first one is 0. The Server calls abort, from any goroutine, when a rank asks for the end of the job with an exit
// status.
func NewServer(size int, app func(rank int) int, abort func(rank, status int)) *Server {
	s := &Server{size: size, name: fmt.Sprintf("kvs_%d_0", os.Getpid()), app: app, abort: abort, space: map[string]string{},
		keys: map[int]int{}, waiting: map[int]io.Writer{}}
	s.space[mapKey] = fmt.Sprintf("(vector,(0,1,%d))", size)
	return s
}

// Told lists the variables by which a manager tells a process about its connection and its place. They are for that
// process only: a launcher does not pass them on to the processes of another job.
var Told = []string{envFD, envPort, envID, envRank, envSize, envSpawned, envLocalRank, envLocalSize}

const (
	envSpawned   = "PMI_SPAWNED"
	envLocalRank = "MPI_LOCALRANKID" // hydra's name for it
	envLocalSize = "MPI_LOCALNRANKS"
)

// Environment returns the variables, as NAME=value, that tell a rank about its connection, which the rank inherits as
// the descriptor fd.
func (s *Server) Environment(rank, fd int) []string {
	n := strconv.Itoa
	return []string{
		envFD + "=" + n(fd), envRank + "=" + n(rank), envSize + "=" + n(s.size), envSpawned + "=0",
		envLocalRank + "=" + n(rank), envLocalSize + "=" + n(s.size),
	}
}

// Serve answers the commands of a rank until the rank has sent finalize or abort, or its connection ends; then it
// closes the connection. Serve fails if the rank sends something that is no PMI, or if it had sent init and ends
// without finalize. A connection that ends before init is no failure. joined reports whether the rank had sent init and
// has not left by finalize: then others may wait for it in the barrier.
func (s *Server) Serve(rank int, conn io.ReadWriteCloser) (joined bool, err error) {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, maxLineBytes)
	for {
		line, err := in.ReadSlice('\n')
		text := strings.TrimSpace(string(line))
		if status, ok := parseAbort(text); ok { // a line that has no end counts, too: what matters stands before the message
			s.abort(rank, status)
			return joined, nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return joined, fmt.Errorf("PMI: rank %d sends a line of more than %d bytes", rank, maxLineBytes)
		case err != nil && joined:
			return joined, fmt.Errorf("PMI: rank %d has ended, or closed its connection, without finalize: have the program call MPI_Finalize", rank)
		case err != nil:
			return joined, nil
		}
		reply, last, err := s.reply(rank, text, in, conn)
		if err != nil {
			return joined, fmt.Errorf("PMI: rank %d: %w", rank, err)
		}
		joined = joined || strings.HasPrefix(reply, initReply)
		if reply != "" {
			_, _ = io.WriteString(conn, reply) // a rank that has closed its end may have sent finalize before: the next read tells
		}
		if last {
			return false, nil
		}
	}
}

// reply carries out one line and returns the answer; "" if there is none yet. last reports whether the conversation is
// over after the answer. in gives the further lines of a command that has several.
func (s *Server) reply(rank int, text string, in *bufio.Reader, conn io.Writer) (reply string, last bool, err error) {
	if strings.HasPrefix(text, "mcmd=") {
		return s.refuseSpawn(in)
	}
	l, err := parseLine(text)
	if err != nil {
		return "", false, err
	}
	switch cmd := l["cmd"]; cmd {
	case "init":
		return initReply + " pmi_version=1 pmi_subversion=1 rc=0\n", false, nil
	case "get_maxes":
		return fmt.Sprintf("cmd=maxes kvsname_max=256 keylen_max=%d vallen_max=%d\n", maxServedKey, maxServedValue), false, nil
	case "get_appnum":
		return fmt.Sprintf("cmd=appnum appnum=%d\n", s.app(rank)), false, nil
	case "get_universe_size":
		return fmt.Sprintf("cmd=universe_size size=%d\n", s.size), false, nil
	case "get_my_kvsname":
		return "cmd=my_kvsname kvsname=" + s.name + "\n", false, nil
	case "put":
		return s.put(rank, l), false, nil
	case "get":
		return s.get(l), false, nil
	case "barrier_in":
		s.enterBarrier(rank, conn)
		return "", false, nil
	case "finalize":
		return "cmd=finalize_ack\n", true, nil
	default:
		return fmt.Sprintf("cmd=%.60s_result rc=-1 msg=this_launcher_does_not_offer_it\n", strings.TrimSuffix(cmd, "_name")), false, nil
	}
}

// refuseSpawn reads the only command that has several lines, spawn, to its end, and refuses it.
func (s *Server) refuseSpawn(in *bufio.Reader) (string, bool, error) {
	for range maxSpawnLines {
		text, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return "", false, fmt.Errorf("a command with a line of more than %d bytes", maxLineBytes)
		}
		if err != nil {
			return "", false, nil // the next read of the connection fails in the same way
		}
		if strings.TrimSpace(string(text)) == "endcmd" {
			return "cmd=spawn_result rc=-1 msg=this_launcher_adds_no_processes_to_a_job\n", false, nil
		}
	}
	return "", false, fmt.Errorf("a command of more than %d lines", maxSpawnLines)
}

func (s *Server) put(rank int, l line) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.space[l["key"]]
	if !known && s.keys[rank] >= maxKeys || len(l["key"]) > maxServedKey || len(l["value"]) > maxServedValue {
		return "cmd=put_result rc=-1 msg=too_much\n"
	}
	if !known {
		s.keys[rank]++
	}
	s.space[l["key"]] = l["value"]
	return "cmd=put_result rc=0 msg=success\n"
}

func (s *Server) get(l line) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.space[l["key"]]
	if !ok {
		return "cmd=get_result rc=-1 msg=key_not_found value=unknown\n"
	}
	return "cmd=get_result rc=0 msg=success value=" + value + "\n"
}

// enterBarrier makes a rank wait in the barrier. The last rank releases all of them.
func (s *Server) enterBarrier(rank int, conn io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[rank] = conn
	if len(s.waiting) < s.size {
		return
	}
	for _, c := range s.waiting {
		_, _ = io.WriteString(c, "cmd=barrier_out rc=0\n") // fails if the rank has ended: then it needs no release
	}
	clear(s.waiting)
}
