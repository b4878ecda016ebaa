package topo

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var recordings = flag.String("recordings", "testdata", "folder with recorded machines, NAME.tar.bz2 beside NAME.console")

// TestRecorded compares every recorded machine with its listing.
func TestRecorded(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join(*recordings, "*.tar.bz2"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no recorded machines in %s (%v)", *recordings, err)
	}
	for _, archive := range archives {
		base := strings.TrimSuffix(archive, ".tar.bz2")
		t.Run(filepath.Base(base), func(t *testing.T) {
			t.Parallel()
			m, err := RecordedFile(archive)
			if err != nil {
				t.Fatal(err)
			}
			checkTree(t, m)
			l, err := readListing(base + ".console")
			if os.IsNotExist(err) {
				t.Skip("it has no listing")
			}
			if err != nil {
				t.Fatal(err)
			}
			l.compare(t, m)
		})
	}
}
