package launch

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"syscall"

	"github.com/pm2-go/pm2/nmad"
)

// String names the ranks and their host.
func (r *Remote) String() string {
	if r.Count == 1 {
		return fmt.Sprintf("rank %d on %s", r.First, r.Host)
	}
	return fmt.Sprintf("ranks %d to %d on %s", r.First, r.First+r.Count-1, r.Host)
}

// assignHosts decides which host starts which ranks: afterwards First and Count are this host's, and remotes the
// others'.
func (j *Job) assignHosts() error {
	s := &j.spec
	if len(s.Hosts) == 0 {
		return nil
	}
	parts, err := divideRanks(s.Hosts, s.N)
	if err != nil {
		return err
	}
	s.First, s.Count = 0, 0
	var root string // an address of rank 0's host
	for i, p := range parts {
		ip, own, err := lookupHost(p.host)
		address := net.JoinHostPort(ip.String(), "0")
		switch {
		case err != nil:
			return err
		case own && s.Count > 0:
			return fmt.Errorf("launch: %w: %q is this host once more: name each host in one way", ErrSpec, p.host)
		case own && ip.IsLoopback() && len(parts) > 1:
			return fmt.Errorf("launch: %w: other hosts cannot reach %q: name this host by an address that they know", ErrSpec, p.host)
		case own:
			s.First, s.Count = p.first, p.count
			if s.Listen == "" {
				s.Listen = address
			}
		case s.Remote == nil:
			return fmt.Errorf("launch: %w: %q is another host, and nothing says what to run there", ErrSpec, p.host)
		default:
			j.remotes = append(j.remotes, Remote{Host: p.host, N: s.N, First: p.first, Count: p.count, Listen: address})
		}
		if i == 0 {
			root = address
		}
	}
	s.Elsewhere = s.Count == 0 || s.First > 0
	if s.Rendezvous == "127.0.0.1:0" {
		s.Rendezvous = root
	}
	if s.Elsewhere && port(s.Rendezvous) == "0" {
		return fmt.Errorf("launch: %w: rank 0 is on %s, where no port can be chosen from here: give a rendezvous address host:port", ErrSpec, parts[0].host)
	}
	return nil
}

// startRemote starts the remote shell for the ranks of another host. Its standard input brings the secret, and is
// the lifeline: it ends when this process does, however that ends.
func (j *Job) startRemote(i int) error {
	r := &j.remotes[i]
	r.Rendezvous, r.Driver = j.addr, j.spec.Driver
	words := append([]string{}, j.spec.Rsh...)
	words = append(words, r.Host, quote(j.spec.Remote(*r)))
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = j.spec.Stdout(Relayed-i), j.spec.Stderr(Relayed-i)
	cmd.SysProcAttr = attributes()
	cmd.Env = j.spec.environment(nil, nil)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := j.run(r.First, &child{cmd: cmd, remote: r}); err != nil {
		return err
	}
	_, err = fmt.Fprintln(in, hex.EncodeToString(j.spec.Secret))
	return err
}

// quote returns one command line for a shell that has these words.
func quote(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

// ReadSecret reads what a launcher on another host sends: the first line of r, in hexadecimal.
func ReadSecret(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadString('\n')
	if err != nil && line == "" {
		return nil, fmt.Errorf("launch: no secret came: %w", err)
	}
	secret, err := hex.DecodeString(strings.TrimSpace(line))
	if err != nil {
		return nil, fmt.Errorf("launch: the secret is not hexadecimal, as %s has it", nmad.EnvSecret)
	}
	return secret, nil
}

// EndWith ends the job when r does: the children get SIGTERM, and SIGKILL after Spec.Grace. What r brings is thrown
// away. It returns at once.
func (j *Job) EndWith(r io.Reader) {
	go func() {
		_, _ = io.Copy(io.Discard, r) // however it ends
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.running > 0 {
			j.inputEnded = true
			j.after(0, func() { j.Signal(syscall.SIGTERM) })
			j.after(j.spec.Grace, j.GiveUp)
		}
	}()
}
