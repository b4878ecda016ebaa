package nmad

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

// mostSecret bounds what is read of a secret, in hexadecimal digits.
const mostSecret = 2 * roster.MaxSecret

// secrets is what this process was told by its environment. It is read once and then taken out of the
// environment, so that the processes that this one starts do not have it.
var secrets = struct {
	turn   chan struct{} // holds one while a caller reads
	secret []byte
	begun  []byte // what callers whose context has ended have read of EnvSecretFD
}{turn: make(chan struct{}, 1)}

// toldSecret reads the secret that EnvSecretFD, EnvSecretFile or EnvSecret tells; nil: none ever did. It waits for the
// other end of a pipe until ctx ends: then it fails with its cause, and the next call goes on.
func toldSecret(ctx context.Context) ([]byte, error) {
	select {
	case secrets.turn <- struct{}{}:
		defer func() { <-secrets.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("nmad: read the secret: %w", context.Cause(ctx))
	}
	text, descriptor, file := os.Getenv(EnvSecret), os.Getenv(EnvSecretFD), os.Getenv(EnvSecretFile)
	if text == "" && descriptor == "" && file == "" {
		return secrets.secret, nil
	}
	var secret []byte
	var err error
	switch {
	case descriptor != "":
		if text, err = readSecret(ctx, descriptor); err != nil {
			return nil, fmt.Errorf("nmad: %s=%q: %w", EnvSecretFD, descriptor, err)
		}
		secret, err = parseSecret(text)
	case file != "":
		secret, err = readSecretFile(ctx, file)
	default:
		secret, err = parseSecret(text)
	}
	if err != nil {
		return nil, err
	}
	secrets.secret = secret
	return secret, errors.Join(os.Unsetenv(EnvSecret), os.Unsetenv(EnvSecretFD), os.Unsetenv(EnvSecretFile))
}

func parseSecret(text string) ([]byte, error) {
	secret, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("nmad: %w: %s is not hexadecimal", ErrConfig, EnvSecret)
	}
	return secret, nil
}

// readSecret reads a descriptor, which the launcher has opened, to its end, and closes it. When ctx ends before it stays
// open, for the next call.
func readSecret(ctx context.Context, descriptor string) (string, error) {
	fd, err := setting.Descriptor(descriptor)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrConfig, err)
	}
	text, err := readToEnd(ctx, fd, secrets.begun, mostSecret)
	if ctx.Err() != nil && err != nil {
		secrets.begun = text
		return "", fmt.Errorf("the launcher has not closed its end: %w", err)
	}
	secrets.begun = nil
	_ = unix.Close(fd)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: %w: was it closed, or read already, by a program between the launcher and this one?", ErrConfig, err)
	case len(text) > mostSecret:
		return "", fmt.Errorf("%w: more than %d digits", ErrConfig, mostSecret)
	case len(text) == 0:
		return "", fmt.Errorf("%w: it is empty: was it read already, by a program between the launcher and this one?", ErrConfig)
	}
	return string(text), nil
}

// readToEnd appends what a descriptor gives to text, up to its end or one byte more than most. It blocks the calling OS
// thread, until ctx ends: then it returns its cause, and what it has read. A closed pipe ends the wait.
func readToEnd(ctx context.Context, fd int, text []byte, most int) ([]byte, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return text, os.NewSyscallError("pipe2", err)
	}
	defer unix.Close(ends[0])
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(over); unix.Close(ends[1]) })
	defer func() {
		if stop() {
			unix.Close(ends[1])
		} else {
			<-over
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
			time.Sleep(time.Millisecond) // a descriptor that does not block may have nothing
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
