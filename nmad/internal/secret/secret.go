package secret

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/setting"
	"github.com/pm2-go/pm2/nmad/internal/roster"
)

// Names of the environment variables by which a launcher tells the secret; nmad.Environment explains them.
const (
	Env     = "PM2_SECRET"
	EnvFD   = "PM2_SECRET_FD"
	EnvFile = "PM2_SECRET_FILE"
)

// mostDigits is the length of the longest secret, in hexadecimal digits.
const mostDigits = 2 * roster.MaxSecret

// told is the secret that the environment of this process has told. Told reads it once and takes it out of the
// environment, so that processes that this one starts do not have it.
var told = struct {
	turn    chan struct{} // a mutex that a caller can give up waiting for: it is full while a caller reads
	secret  []byte        // nil until a call has read it
	partial []byte        // the digits that callers whose context has ended have read from the descriptor of EnvFD
}{turn: make(chan struct{}, 1)}

// Told returns the secret that EnvFD, EnvFile or Env tells, also after it was taken out of the environment; nil if
// there was none. It waits for the writer of a pipe until ctx ends; then it fails with the cause, and the next call
// goes on where this one has stopped. Safe for concurrent use.
func Told(ctx context.Context) ([]byte, error) {
	select {
	case told.turn <- struct{}{}:
		defer func() { <-told.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("read the secret: %w", context.Cause(ctx))
	}
	text, descriptor, file := os.Getenv(Env), os.Getenv(EnvFD), os.Getenv(EnvFile)
	if text == "" && descriptor == "" && file == "" {
		return told.secret, nil
	}
	var secret []byte
	var err error
	switch {
	case descriptor != "":
		if text, err = readDescriptor(ctx, descriptor); err != nil {
			return nil, fmt.Errorf("%s=%q: %w", EnvFD, descriptor, err)
		}
		secret, err = Parse(text)
	case file != "":
		secret, err = ReadFile(ctx, file)
	default:
		secret, err = Parse(text)
	}
	if err != nil {
		return nil, err
	}
	told.secret = secret
	return secret, errors.Join(os.Unsetenv(Env), os.Unsetenv(EnvFD), os.Unsetenv(EnvFile))
}

// Parse decodes the value of Env.
func Parse(text string) ([]byte, error) {
	secret, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not hexadecimal", Env)
	}
	return secret, nil
}

// readDescriptor reads a descriptor that the launcher has opened to its end, and closes it. If ctx ends first, the
// descriptor stays open, and told.partial keeps what was read, for the next call.
func readDescriptor(ctx context.Context, descriptor string) (string, error) {
	fd, err := setting.Descriptor(descriptor)
	if err != nil {
		return "", err
	}
	text, err := readToEnd(ctx, fd, told.partial, mostDigits)
	if ctx.Err() != nil && err != nil {
		told.partial = text
		return "", fmt.Errorf("the launcher has not closed its end: %w", err)
	}
	told.partial = nil
	_ = unix.Close(fd)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: was it closed, or read already, by a program between the launcher and this one?", err)
	case len(text) > mostDigits:
		return "", fmt.Errorf("more than %d digits", mostDigits)
	case len(text) == 0:
		return "", errors.New("it is empty: was it read already, by a program between the launcher and this one?")
	}
	return string(text), nil
}

// readToEnd appends what it reads from a descriptor to text, until the end, or until text has one byte more than most.
// It blocks the calling OS thread until ctx ends; then it returns the cause, and what it has read.
func readToEnd(ctx context.Context, fd int, text []byte, most int) ([]byte, error) {
	var ends [2]int // a pipe that is closed when ctx ends, which wakes the poll below
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return text, os.NewSyscallError("pipe2", err)
	}
	defer unix.Close(ends[0])
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(closed); unix.Close(ends[1]) })
	defer func() {
		if stop() {
			unix.Close(ends[1])
		} else {
			<-closed
		}
	}()
	buf := make([]byte, most+1)
	for len(text) <= most {
		wait := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(ends[0])}}
		_, refused := unix.Poll(wait, -1)
		switch {
		case ctx.Err() != nil:
			return text, context.Cause(ctx)
		case refused == unix.EINTR:
			continue
		case refused != nil:
			time.Sleep(time.Millisecond) // without poll, do not read a descriptor that does not block in a tight loop
		}
		switch n, err := unix.Read(fd, buf[:most+1-len(text)]); {
		case err == unix.EINTR || err == unix.EAGAIN:
		case err != nil:
			return text, os.NewSyscallError("read", err)
		case n == 0:
			return text, nil
		default:
			text = append(text, buf[:n]...)
		}
	}
	return text, nil
}
