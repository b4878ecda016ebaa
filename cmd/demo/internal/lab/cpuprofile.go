package lab

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime/pprof"
)

// cpuProfile is how much CPU time a process used, in samples, and how much of it in which functions: a
// sample counts where one of the functions on the stack has a name that matches.
type cpuProfile struct {
	samples int64
	in      []int64 // by pattern
}

func (prof *cpuProfile) add(o cpuProfile) {
	prof.samples += o.samples
	if prof.in == nil {
		prof.in = make([]int64, len(o.in))
	}
	for i := range o.in {
		prof.in[i] += o.in[i]
	}
}

// profiled runs f while the CPU time of this process is sampled, 100 times a second of each thread.
func profiled(f func() error, patterns ...*regexp.Regexp) (t cpuProfile, err error) {
	var raw bytes.Buffer
	if err := pprof.StartCPUProfile(&raw); err != nil {
		return t, fmt.Errorf("sample the CPU time: %w", err)
	}
	err = f()
	pprof.StopCPUProfile()
	if err != nil {
		return t, err
	}
	r, err := gzip.NewReader(&raw)
	if err != nil {
		return t, fmt.Errorf("read the CPU profile: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return t, fmt.Errorf("read the CPU profile: %w", err)
	}
	return timeOf(text, patterns...)
}

// Numbers of fields in the messages of pprof.
const (
	profileSample, profileLocation, profileFunction, profileString = 2, 4, 5, 6

	sampleLocation, sampleValue = 1, 2
	locationID, locationLine    = 1, 4
	lineFunction                = 1
	functionID, functionName    = 1, 2
)

// timeOf reads a profile in the format of pprof, a protocol buffer.
func timeOf(profile []byte, patterns ...*regexp.Regexp) (t cpuProfile, err error) {
	var names []string
	functions := map[uint64]uint64{}   // name by number
	locations := map[uint64][]uint64{} // functions
	var samples [][]byte
	err = fields(profile, func(number int, _ uint64, b []byte) error {
		switch number {
		case profileString:
			names = append(names, string(b))
		case profileFunction:
			var id, name uint64
			err := fields(b, func(number int, v uint64, _ []byte) error {
				switch number {
				case functionID:
					id = v
				case functionName:
					name = v
				}
				return nil
			})
			functions[id] = name
			return err
		case profileLocation:
			var id uint64
			var of []uint64
			err := fields(b, func(number int, v uint64, b []byte) error {
				switch number {
				case locationID:
					id = v
				case locationLine:
					return fields(b, func(number int, v uint64, _ []byte) error {
						if number == lineFunction {
							of = append(of, v)
						}
						return nil
					})
				}
				return nil
			})
			locations[id] = of
			return err
		case profileSample:
			samples = append(samples, b)
		}
		return nil
	})
	if err != nil {
		return t, err
	}
	t.in = make([]int64, len(patterns))
	for _, s := range samples {
		count := int64(-1) // the first value is that
		hit := make([]bool, len(patterns))
		err := fields(s, func(number int, v uint64, b []byte) error {
			return numbersOf(v, b, func(v uint64) {
				switch {
				case number == sampleValue && count < 0:
					count = int64(v)
				case number == sampleLocation:
					for _, f := range locations[v] {
						name := functions[f]
						for i, p := range patterns {
							hit[i] = hit[i] || name < uint64(len(names)) && p.MatchString(names[name])
						}
					}
				}
			})
		})
		if err != nil {
			return t, err
		}
		t.samples += max(count, 0)
		for i := range hit {
			if hit[i] {
				t.in[i] += max(count, 0)
			}
		}
	}
	return t, nil
}

var errProfile = errors.New("the CPU profile is damaged")

// fields goes through the fields of a message: a number, or bytes.
func fields(b []byte, f func(number int, v uint64, sub []byte) error) error {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return errProfile
		}
		v, m := binary.Uvarint(b[n:])
		if m <= 0 {
			return errProfile
		}
		b = b[n+m:]
		var sub []byte
		switch key & 7 {
		case 0:
		case 2:
			if v > uint64(len(b)) {
				return errProfile
			}
			sub, b, v = b[:v:v], b[v:], 0
		default:
			return errProfile // the format has no others
		}
		if err := f(int(key>>3), v, sub); err != nil {
			return err
		}
	}
	return nil
}

// numbersOf goes through the values of a repeated field, which may be packed.
func numbersOf(v uint64, packed []byte, f func(uint64)) error {
	if packed == nil {
		f(v)
		return nil
	}
	for len(packed) > 0 {
		v, n := binary.Uvarint(packed)
		if n <= 0 {
			return errProfile
		}
		packed = packed[n:]
		f(v)
	}
	return nil
}
