package setting

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// SharedCPUs is the variable by which the user says that other processes use the CPUs; several rooms read it.
const SharedCPUs = "PM2_SHARED_CPUS"

// Shared returns the value of the variable SharedCPUs, false if it is not set.
func Shared() (bool, error) { return Read(SharedCPUs, os.Getenv(SharedCPUs), Bool) }

// Read parses text, the value of the variable called name; empty text stands for the zero value. The error names the
// variable.
func Read[T any](name, text string, parse func(string) (T, error)) (value T, err error) {
	if text == "" {
		return value, nil
	}
	v, err := parse(text)
	if err != nil {
		return value, fmt.Errorf("%s=%q: %w", name, text, err)
	}
	return v, nil
}

// Bool takes 1, true, yes, on and 0, false, no, off, in capitals or not.
func Bool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "1", "true", "yes", "on":
		return true, nil
	case "0", "false", "no", "off":
		return false, nil
	}
	return false, errors.New("give 0 or 1")
}

// Number takes any number.
func Number(text string) (int, error) { return number(text, math.MinInt, "give a number") }

// Count takes a number of at least 1.
func Count(text string) (int, error) { return number(text, 1, "give a number, at least 1") }

// Bytes takes a size of at least one byte.
func Bytes(text string) (int, error) { return number(text, 1, "give a number of bytes, at least 1") }

func number(text string, least int, give string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, errors.New(give)
	}
	return n, nil
}

// Duration takes a time with its unit, or 0.
func Duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errors.New("give a duration such as 5s")
	}
	return d, nil
}

// Descriptor takes the number of a file descriptor that is none of the standard streams.
func Descriptor(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n < 3 {
		return 0, errors.New("give the number of a descriptor above 2")
	}
	return int(n), nil
}
