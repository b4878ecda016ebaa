package nmad

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/pm2-go/pm2/nmad/internal/bootstrap"
)

// mostSecret bounds what is read of a secret, in hexadecimal digits.
const mostSecret = 2 * bootstrap.MaxSecret

// told is the secret that this process was told by its environment. It is read once and then taken out of the
// environment, so that the processes that this one starts do not have it.
var told struct {
	mu     sync.Mutex
	secret []byte
}

// toldSecret reads the secret that EnvSecretFD, EnvSecretFile or EnvSecret tells; nil: none ever did.
func toldSecret() ([]byte, error) {
	told.mu.Lock()
	defer told.mu.Unlock()
	text, descriptor, file := os.Getenv(EnvSecret), os.Getenv(EnvSecretFD), os.Getenv(EnvSecretFile)
	if text == "" && descriptor == "" && file == "" {
		return told.secret, nil
	}
	var secret []byte
	var err error
	switch {
	case descriptor != "":
		if text, err = readSecret(descriptor); err != nil {
			return nil, fmt.Errorf("nmad: %w: %s=%q: %v", ErrConfig, EnvSecretFD, descriptor, err)
		}
		secret, err = parseSecret(text)
	case file != "":
		secret, err = ReadSecretFile(file)
	default:
		secret, err = parseSecret(text)
	}
	if err != nil {
		return nil, err
	}
	told.secret = secret
	return secret, errors.Join(os.Unsetenv(EnvSecret), os.Unsetenv(EnvSecretFD), os.Unsetenv(EnvSecretFile))
}

func parseSecret(text string) ([]byte, error) {
	secret, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("nmad: %w: %s is not hexadecimal", ErrConfig, EnvSecret)
	}
	return secret, nil
}

// readSecret reads a descriptor, which the launcher has opened, to its end, and closes it.
func readSecret(descriptor string) (string, error) {
	fd, err := strconv.ParseUint(descriptor, 10, 31)
	if err != nil || fd < 3 {
		return "", errors.New("give the number of a descriptor above 2")
	}
	file := os.NewFile(uintptr(fd), EnvSecretFD)
	if file == nil {
		return "", errors.New("no such descriptor")
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostSecret+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: was it closed, or read already, by a program between the launcher and this one?", err)
	case len(text) > mostSecret:
		return "", fmt.Errorf("more than %d digits", mostSecret)
	case len(text) == 0:
		return "", errors.New("it is empty: was it read already, by a program between the launcher and this one?")
	}
	return string(text), nil
}
