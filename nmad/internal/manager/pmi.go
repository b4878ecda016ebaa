package manager

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Environment variables of PMI 1.1.
const (
	envFD   = "PMI_FD"   // descriptor of a socket to the manager
	envPort = "PMI_PORT" // host:port at which the manager accepts connections, if there is no envFD
	envID   = "PMI_ID"   // with envPort: which of its processes connects
	envRank = "PMI_RANK" // with envFD: rank of the process
	envSize = "PMI_SIZE" // with envFD: size of the job
)

// mapKey is the key under which managers put the placement of the ranks.
const mapKey = "PMI_process_mapping"

// answerTimeout is how long the manager may take for an answer that does not depend on other processes. It is long
// because the host of the manager may be busy.
const answerTimeout = 20 * time.Second

// maxAhead is how many lines the manager may send before this process takes one: an answer, and the three lines that
// follow the answer to initack (introduce).
const maxAhead = 4

// pmi is a Manager that speaks PMI 1.1, over an inherited descriptor or over TCP. One command is under way at a time. A
// goroutine, the reader, reads all lines, so that it notices the end of the connection also between two commands:
//
//	open --- Finalize, acknowledged ---> closed
//	open --- the connection ends, or brings a line that is no answer ---> gone
type pmi struct {
	name string // see Manager.Name
	conn io.ReadWriteCloser

	// Set before openPMI returns; constant afterwards.
	rank, size    int
	space         string
	nodes         []int
	maxKeyBytes   int // longest key that the manager takes, in bytes
	maxValueBytes int // longest value that the manager takes, in bytes

	mu      sync.Mutex    // held while a command is under way
	answers chan line     // from the reader to the sender of the command
	gone    chan struct{} // closed by the reader in the state gone
	why     error         // why the connection is gone; the reader sets it before it closes gone
}

// openPMI connects to the manager that the environment names, and asks which rank this process is.
func openPMI(ctx context.Context, get func(string) string) (_ *pmi, err error) {
	p := &pmi{answers: make(chan line, maxAhead), gone: make(chan struct{})}
	doing := ""
	defer func() {
		if err != nil {
			if p.conn != nil {
				p.conn.Close()
			}
			if !errors.Is(err, ErrManager) {
				err = &Error{p.name, doing, err}
			}
		}
	}()
	if text := get(envFD); text != "" {
		p.name, doing = fmt.Sprintf("PMI 1.1 (%s=%s)", envFD, text), "take over its descriptor"
		if p.conn, err = inherit(text); err != nil {
			return nil, err
		}
		doing = "read our rank and size"
		if p.rank, p.size, err = identity(get(envRank), get(envSize)); err != nil {
			return nil, err
		}
		go p.read()
	} else {
		where := get(envPort)
		p.name, doing = fmt.Sprintf("PMI 1.1 (%s=%s)", envPort, where), "connect"
		id := get(envID)
		if _, err := strconv.ParseUint(id, 10, 31); err != nil {
			return nil, fmt.Errorf("%s=%.60q: the manager should give a number", envID, id)
		}
		if p.conn, err = (&net.Dialer{Timeout: answerTimeout}).DialContext(ctx, "tcp", where); err != nil {
			return nil, err
		}
		go p.read()
		if err := p.introduce(ctx, id); err != nil {
			return nil, err
		}
	}
	return p, p.init(ctx)
}

// inherit takes over a descriptor that the manager has opened. Children of this process do not inherit it.
func inherit(text string) (io.ReadWriteCloser, error) {
	fd, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return nil, errors.New("it is no number")
	}
	file := os.NewFile(uintptr(fd), envFD)
	if file == nil {
		return nil, errors.New("no such descriptor")
	}
	defer file.Close()
	conn, err := net.FileConn(file) // a copy of the descriptor that is closed on exec, and that Go's poller can wait for
	if err != nil {
		return nil, fmt.Errorf("it is no open socket (%w): was it closed by a program between the manager and this one?", err)
	}
	return conn, nil
}

// identity parses the rank and the size that the environment tells.
func identity(rank, size string) (r, s int, err error) {
	l := line{envRank: rank, envSize: size}
	if s, err = l.number(envSize, 1, driver.MaxSize); err != nil {
		return 0, 0, err
	}
	r, err = l.number(envRank, 0, s-1)
	return r, s, err
}

// introduce begins the conversation over TCP: the process tells its id, and the manager answers with the size, the rank
// and a debug level, in a line each.
func (p *pmi) introduce(ctx context.Context, id string) error {
	if _, err := p.ask(ctx, answerTimeout, "initack", "cmd=initack pmiid="+id); err != nil {
		return err
	}
	for _, v := range []struct {
		key       string
		to        *int
		low, high int
	}{{"size", &p.size, 1, driver.MaxSize}, {"rank", &p.rank, 0, driver.MaxSize - 1}, {"debug", new(int), 0, 1 << 30}} {
		l, err := p.receive(ctx, answerTimeout, "set")
		if err == nil {
			*v.to, err = l.number(v.key, v.low, v.high)
		}
		if err != nil {
			return &Error{p.name, "hear our " + v.key, err}
		}
	}
	if p.rank >= p.size {
		return &Error{p.name, "hear our rank and size", fmt.Errorf("rank %d of %d", p.rank, p.size)}
	}
	return nil
}

// init agrees on the version of the protocol, and asks for the limits of the key space, its name, and the placement of
// the ranks.
func (p *pmi) init(ctx context.Context) error {
	if _, err := p.ask(ctx, answerTimeout, "response_to_init", "cmd=init pmi_version=1 pmi_subversion=1"); err != nil {
		return err
	}
	l, err := p.ask(ctx, answerTimeout, "maxes", "cmd=get_maxes")
	if err != nil {
		return err
	}
	for _, v := range []struct {
		key string
		to  *int
	}{{"keylen_max", &p.maxKeyBytes}, {"vallen_max", &p.maxValueBytes}} {
		if *v.to, err = l.number(v.key, 32, 1<<20); err != nil {
			return &Error{p.name, "ask for its bounds", err}
		}
		*v.to = min(*v.to, maxValueBytes+1) - 1 // some managers count the NUL at the end of a string
	}
	if l, err = p.ask(ctx, answerTimeout, "my_kvsname", "cmd=get_my_kvsname"); err != nil {
		return err
	}
	p.space = l["kvsname"]
	if p.space == "" || len(p.space) > maxValueBytes || strings.ContainsFunc(p.space, unicode.IsControl) || !utf8.ValidString(p.space) {
		// Letters beyond ASCII are allowed: the names of Flux begin with one.
		return &Error{p.name, "ask for the key space", fmt.Errorf("its name is %.60q", p.space)}
	}
	// A manager that does not place the ranks answers that the key does not exist, which is no failure.
	l, err = p.exchange(ctx, answerTimeout, "get_result", "cmd=get kvsname="+p.space+" key="+mapKey)
	if err != nil {
		return err
	}
	if text := l["value"]; l.refusal() == nil && text != "" {
		if p.nodes, err = parseMapping(text, p.size); err != nil {
			return &Error{p.name, "ask where the ranks are", err}
		}
	}
	return nil
}

// read is the reader: it hands each answer to the sender of the command, until the connection ends.
func (p *pmi) read() {
	lines := bufio.NewReaderSize(p.conn, maxLineBytes)
	for {
		text, err := lines.ReadSlice('\n')
		switch {
		case err == nil && len(text) == 1:
			continue // Flux answers an abort by an empty line
		case errors.Is(err, bufio.ErrBufferFull):
			err = fmt.Errorf("it sent a line of more than %d bytes", maxLineBytes)
		case errors.Is(err, io.EOF) && len(text) > 0:
			err = fmt.Errorf("it ended the connection within the line %.60q", text)
		case errors.Is(err, io.EOF):
			err = errors.New("it ended the connection: it has died, or ends the job")
		}
		var l line
		if err == nil {
			l, err = parseLine(strings.TrimSuffix(string(text), "\n"))
		}
		if err == nil {
			last := l["cmd"] == "finalize_ack" // the end of the connection is no failure from here on
			select {
			case p.answers <- l:
				if last {
					return
				}
				continue
			default:
				err = unexpected(l)
			}
		}
		p.why = err
		close(p.gone)
		return
	}
}

// unexpected is the error for a line that no command has asked for.
func unexpected(l line) error {
	return fmt.Errorf("it says %.60q, which nothing asked for", l["cmd"])
}

// ask sends a command and returns the answer. It fails if the answer is not the command want, or is a refusal. limit
// bounds the wait; 0 means that only ctx does.
func (p *pmi) ask(ctx context.Context, limit time.Duration, want, command string) (line, error) {
	l, err := p.exchange(ctx, limit, want, command)
	if err == nil {
		if err = l.refusal(); err != nil {
			err = &Error{p.name, withoutValue(command), err}
		}
	}
	return l, err
}

// withoutValue returns a command without the value that it puts, for an error.
func withoutValue(command string) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(command, "cmd="), " value=")
	return text
}

// exchange is ask without a look at the answer's return code.
func (p *pmi) exchange(ctx context.Context, limit time.Duration, want, command string) (line, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var l line
	var err error
	select {
	case l = <-p.answers:
		err = unexpected(l)
	default:
		err = p.send(command)
	}
	if err == nil {
		l, err = p.receive(ctx, limit, want)
	}
	if err != nil {
		return nil, &Error{p.name, withoutValue(command), err}
	}
	return l, nil
}

// send writes a command in one piece. It blocks for at most answerTimeout.
func (p *pmi) send(command string) error {
	if len(command) >= maxSentBytes {
		return fmt.Errorf("a line of %d bytes, at most %d fit", len(command)+1, maxSentBytes)
	}
	if c, ok := p.conn.(net.Conn); ok {
		_ = c.SetWriteDeadline(time.Now().Add(answerTimeout)) // the manager may not read; if this fails the write has no limit
	}
	if _, err := io.WriteString(p.conn, command+"\n"); err != nil {
		select {
		case <-p.gone: // the reader's error says more than that of the write
			return p.why
		case <-time.After(time.Second):
		}
		return err
	}
	return nil
}

// receive waits for the answer want. limit bounds the wait; 0 means that only ctx does.
func (p *pmi) receive(ctx context.Context, limit time.Duration, want string) (line, error) {
	var late <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		late = t.C
	}
	var l line
	select {
	case l = <-p.answers:
	case <-p.gone:
		select {
		case l = <-p.answers: // it came before the end of the connection
		default:
			return nil, p.why
		}
	case <-ctx.Done():
		return nil, fmt.Errorf("no answer: %w", context.Cause(ctx))
	case <-late:
		return nil, fmt.Errorf("no answer within %v: it hangs, or its host is busy", limit)
	}
	if l["cmd"] != want {
		return nil, fmt.Errorf("it answers %.60q, and %q was expected", l["cmd"], want)
	}
	return l, nil
}

func (p *pmi) Name() string          { return p.name }
func (p *pmi) Rank() int             { return p.rank }
func (p *pmi) Size() int             { return p.size }
func (p *pmi) Space() string         { return p.space }
func (p *pmi) Nodes() []int          { return p.nodes }
func (p *pmi) Gone() <-chan struct{} { return p.gone }

func (p *pmi) Put(ctx context.Context, key, value string) error {
	err := checkWord("key", key, p.maxKeyBytes)
	if err == nil {
		err = checkWord("value", value, p.maxValueBytes)
	}
	if err != nil {
		return &Error{p.name, "put " + key, err}
	}
	_, err = p.ask(ctx, answerTimeout, "put_result", "cmd=put kvsname="+p.space+" key="+key+" value="+value)
	return err
}

func (p *pmi) Fence(ctx context.Context) error {
	_, err := p.ask(ctx, 0, "barrier_out", "cmd=barrier_in")
	if err != nil && ctx.Err() != nil {
		err = &Error{p.name, "wait for all processes of the job", fmt.Errorf("not all %d have come: has one ended, or not called Join? (%w)", p.size, context.Cause(ctx))}
	}
	return err
}

func (p *pmi) Get(ctx context.Context, _ int, key string) (string, error) {
	if err := checkWord("key", key, p.maxKeyBytes); err != nil {
		return "", &Error{p.name, "get " + key, err}
	}
	l, err := p.ask(ctx, answerTimeout, "get_result", "cmd=get kvsname="+p.space+" key="+key)
	return l["value"], err
}

// Abort does not wait for an answer, because PMI has none. Any goroutine may call it.
func (p *pmi) Abort(status int, _ string) error {
	if err := p.send("cmd=abort exitcode=" + strconv.Itoa(status)); err != nil {
		return &Error{p.name, "abort", err}
	}
	return nil
}

func (p *pmi) Finalize(ctx context.Context) error {
	_, err := p.ask(ctx, answerTimeout, "finalize_ack", "cmd=finalize")
	p.conn.Close()
	return err
}
