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

// Server is the other end of PMI 1.1, for the programs of other libraries that a launcher of ours starts, all on one host.
// Each process of the job has a connection of its own:
//
//	open --- init ---> joined --- finalize, abort ---> closed
//	open --- the connection ends, or brings nonsense ---> closed
//	joined --- the connection ends, or brings nonsense ---> closed: it has left, and others may wait for it
//
// It knows a key space and a barrier. Processes cannot be added to a job, and names cannot be published: that is refused.
// Safe for concurrent use.
type Server struct {
	size   int
	name   string
	app    func(rank int) int     // tells which program of the command line a rank runs
	abort  func(rank, status int) // is called when a rank asks for the end of the job
	mu     sync.Mutex             // guards what follows
	space  map[string]string      // the values that were put, by key
	keys   map[int]int            // by rank: how many keys it has put
	inside map[int]io.Writer      // the connections of the ranks that wait in the barrier
}

// What a client is told of the longest key and value, in bytes: every client has room for that much.
const (
	servedKey   = 64
	servedValue = 1024
	// mostKeys is how many keys a rank may put; putting one again is not counted.
	mostKeys = 4096
)

// initReply is how the answer to init begins.
const initReply = "cmd=response_to_init"

// NewServer returns the server of a job of so many processes. app says which program of the command line a rank runs, 0
// being the first; abort is called, by any goroutine, when a rank asks for the end of the job with an exit status.
func NewServer(size int, app func(rank int) int, abort func(rank, status int)) *Server {
	s := &Server{size: size, name: fmt.Sprintf("kvs_%d_0", os.Getpid()), app: app, abort: abort, space: map[string]string{},
		keys: map[int]int{}, inside: map[int]io.Writer{}}
	s.space[mapKey] = fmt.Sprintf("(vector,(0,1,%d))", size)
	return s
}

// Told are the variables by which a manager tells a process of its connection, and what else is of one process only: not
// for those of another job.
var Told = []string{envFD, envPort, envID, envRank, envSize, envSpawned, envLocalRank, envLocalSize}

const (
	envSpawned   = "PMI_SPAWNED"
	envLocalRank = "MPI_LOCALRANKID" // as hydra has it
	envLocalSize = "MPI_LOCALNRANKS"
)

// Environment are the variables that tell a rank of its connection, which it finds open at a descriptor.
func (s *Server) Environment(rank, fd int) []string {
	n := strconv.Itoa
	return []string{
		envFD + "=" + n(fd), envRank + "=" + n(rank), envSize + "=" + n(s.size), envSpawned + "=0",
		envLocalRank + "=" + n(rank), envLocalSize + "=" + n(s.size),
	}
}

// Serve converses with a rank until it has said that it leaves, or its connection ends, and closes the connection. The
// error says what came that is no PMI, or that a rank that had joined has left without a word; the end of one that had not
// is none. joined: it had said init, and others may wait for it in the barrier.
func (s *Server) Serve(rank int, conn io.ReadWriteCloser) (joined bool, err error) {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		text := strings.TrimSpace(string(line))
		if status, ok := aborted(text); ok { // also one that has not ended: all that counts stands before the message
			s.abort(rank, status)
			return joined, nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return joined, fmt.Errorf("PMI: rank %d sends a line of more than %d bytes", rank, maxLine)
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
			_, _ = io.WriteString(conn, reply) // one that has closed its end may have said finalize before
		}
		if last {
			return false, nil
		}
	}
}

// reply is what a line is answered by; last: the conversation is over then.
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
		return fmt.Sprintf("cmd=maxes kvsname_max=256 keylen_max=%d vallen_max=%d\n", servedKey, servedValue), false, nil
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
		s.enter(rank, conn)
		return "", false, nil
	case "finalize":
		return "cmd=finalize_ack\n", true, nil
	default:
		return fmt.Sprintf("cmd=%.60s_result rc=-1 msg=this_launcher_does_not_offer_it\n", strings.TrimSuffix(cmd, "_name")), false, nil
	}
}

// refuseSpawn reads a command of several lines to its end: there is one such command.
func (s *Server) refuseSpawn(in *bufio.Reader) (string, bool, error) {
	for range maxLine {
		text, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return "", false, fmt.Errorf("a command with a line of more than %d bytes", maxLine)
		}
		if err != nil {
			return "", false, nil // the next read meets it again
		}
		if strings.TrimSpace(string(text)) == "endcmd" {
			return "cmd=spawn_result rc=-1 msg=this_launcher_adds_no_processes_to_a_job\n", false, nil
		}
	}
	return "", false, fmt.Errorf("a command of more than %d lines", maxLine)
}

func (s *Server) put(rank int, l line) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, again := s.space[l["key"]]
	if !again && s.keys[rank] >= mostKeys || len(l["key"]) > servedKey || len(l["value"]) > servedValue {
		return "cmd=put_result rc=-1 msg=too_much\n"
	}
	if !again {
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

// enter has a rank wait in the barrier; the last one lets all go.
func (s *Server) enter(rank int, conn io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside[rank] = conn
	if len(s.inside) < s.size {
		return
	}
	for _, c := range s.inside {
		_, _ = io.WriteString(c, "cmd=barrier_out rc=0\n") // to one that has ended meanwhile
	}
	clear(s.inside)
}
