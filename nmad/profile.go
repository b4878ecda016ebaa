package nmad

import (
	"encoding/json"
	"fmt"
	"os"
)

// Profile holds the measurements of the rails of a machine. It is kept in a file, in JSON, which EnvProfile names.
type Profile struct {
	Rails map[string]RailProfile `json:"rails"` // by name of the driver, with #2, #3... for further rails of the same driver
}

// RailProfile holds the measurements of one rail.
type RailProfile struct {
	// Eager is the longest message, in bytes, that is faster eagerly, over the first rail, than by a rendezvous whose
	// bytes come over this one; 0 if it was not measured.
	Eager int `json:"eager,omitempty"`

	LatencyNs int64       `json:"latency_ns,omitempty"` // of a rendezvous: what it takes beyond the bytes, in ns
	Bandwidth float64     `json:"bandwidth,omitempty"`  // of its bytes, in bytes per ns; 0: not measured
	Points    []CostPoint `json:"points,omitempty"`     // from which Eager comes
}

// CostPoint is the median half round trip of messages of Size bytes, in nanoseconds, by each protocol.
type CostPoint struct {
	Size         int   `json:"size"`
	EagerNs      int64 `json:"eager_ns"`
	RendezvousNs int64 `json:"rendezvous_ns"`
}

// maxBandwidth is more than any rail has, in bytes per ns.
const maxBandwidth = 1e6

// maxProfile is the longest file that LoadProfile reads, in bytes.
const maxProfile = 1 << 20

// LoadProfile reads a profile from a file. Errors are ErrConfig.
func LoadProfile(file string) (*Profile, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("nmad: %w: profile: %w", ErrConfig, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxProfile {
		return nil, fmt.Errorf("nmad: %w: profile %s is no file of at most %d bytes", ErrConfig, file, maxProfile)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("nmad: %w: profile: %w", ErrConfig, err)
	}
	var p Profile
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("nmad: %w: profile %s: %w: have it measured again", ErrConfig, file, err)
	}
	if err := p.check(" " + file); err != nil {
		return nil, err
	}
	return &p, nil
}

// check fails if the profile has values that cannot have been measured. which follows the word profile in the error.
func (pf *Profile) check(which string) error {
	for name, r := range pf.Rails {
		if r.Eager < 0 || r.Eager == 0 && r.Bandwidth == 0 || r.LatencyNs < 0 || r.Bandwidth < 0 || r.Bandwidth > maxBandwidth {
			return fmt.Errorf("nmad: %w: profile%s: rail %q has an eager limit of %d bytes, a latency of %d ns and a bandwidth of %g bytes/ns: have it measured again",
				ErrConfig, which, name, r.Eager, r.LatencyNs, r.Bandwidth)
		}
	}
	return nil
}

// Save writes the profile into a file, which LoadProfile reads.
func (pf *Profile) Save(file string) error {
	text, err := json.MarshalIndent(pf, "", "  ")
	if err == nil {
		err = os.WriteFile(file, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("nmad: save a profile: %w", err)
	}
	return nil
}
