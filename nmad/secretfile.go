package nmad

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pm2-go/pm2/nmad/internal/bootstrap"
)

// ReadSecretFile reads a job's secret, in hexadecimal, from a file. It refuses a file that other users could read or change: the file
// must belong to this user or to root, and only its owner may read it. If it is root's, its group may read it, too: so Kubernetes
// mounts a Secret for a user without privileges (fsGroup).
func ReadSecretFile(name string) ([]byte, error) {
	secret, err := readSecretFile(name)
	if err != nil {
		return nil, fmt.Errorf("nmad: %w: the secret in %s: %w", ErrConfig, name, err)
	}
	return secret, nil
}

func readSecretFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := private(info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, mostSecret+2))
	if err != nil {
		return nil, err
	}
	secret, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(secret) < bootstrap.MinSecret || len(secret) > bootstrap.MaxSecret {
		return nil, fmt.Errorf("it is not %d to %d hexadecimal digits, such as openssl rand -hex 32 writes", 2*bootstrap.MinSecret, mostSecret)
	}
	return secret, nil
}

// private says what is wrong with a file that other users may read or write.
func private(info os.FileInfo) error {
	mode := info.Mode()
	if !mode.IsRegular() {
		return nil // a pipe
	}
	open := os.FileMode(0o077)
	switch owner := ownerOf(info); owner {
	case 0:
		open = 0o037
	case os.Geteuid():
	default:
		return fmt.Errorf("it belongs to the user %d: it must be root's or our own (user %d)", owner, os.Geteuid())
	}
	if mode.Perm()&open != 0 {
		return fmt.Errorf("its mode is %#o, other users have access to it: chmod 600 (in Kubernetes defaultMode: 0400)", mode.Perm())
	}
	return nil
}
