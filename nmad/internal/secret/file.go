package secret

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/internal/roster"
)

// ReadFile reads a secret from a file that other users can neither read nor change; nmad.ReadSecretFile has the rules.
// It blocks the calling OS thread while the file is a pipe that has no writer yet, until ctx ends.
func ReadFile(ctx context.Context, name string) ([]byte, error) {
	secret, err := secretIn(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("the secret in %s: %w", name, err)
	}
	return secret, nil
}

func secretIn(ctx context.Context, name string) ([]byte, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0) // without O_NONBLOCK the open of a pipe would wait, whatever ctx does
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return nil, os.NewSyscallError("fstat", err)
	}
	if err := checkPrivate(&info); err != nil {
		return nil, err
	}
	text, err := readToEnd(ctx, fd, nil, mostDigits+1)
	if err != nil {
		return nil, err
	}
	secret, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(secret) < roster.MinSecret || len(secret) > roster.MaxSecret {
		return nil, fmt.Errorf("it is not %d to %d hexadecimal digits, such as openssl rand -hex 32 writes", 2*roster.MinSecret, mostDigits)
	}
	return secret, nil
}

// checkPrivate fails if other users may read or write the file.
func checkPrivate(info *unix.Stat_t) error {
	if info.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil // a pipe
	}
	forbidden := uint32(0o077) // bits of the mode
	switch int(info.Uid) {
	case 0:
		forbidden = 0o037
	case os.Geteuid():
	default:
		return fmt.Errorf("it belongs to the user %d: it must be root's or our own (user %d)", info.Uid, os.Geteuid())
	}
	if mode := info.Mode & 0o777; mode&forbidden != 0 {
		return fmt.Errorf("its mode is %#o, other users have access to it: chmod 600 (in Kubernetes defaultMode: 0400)", mode)
	}
	return nil
}
