package topo

import (
	"archive/zip"
	"io/fs"
	"path"
	"strings"
)

// memory is a file system in memory: what an archive held. testing/fstest's MapFS does not serve: a link that leads to
// itself ends the process there, and each folder costs a walk over all files.
type memory struct {
	files *zip.Reader       // has an empty file for each link
	links map[string]string // the target of each link; "" leads nowhere
}

// maxLinks is how many links one name may lead through.
const maxLinks = 20

// Open implements fs.FS.
func (m memory) Open(name string) (fs.File, error) {
	if fs.ValidPath(name) {
		name = m.follow(name)
	}
	return m.files.Open(name)
}

// follow returns the name without links; "" if it leads out of the archive, or in a circle.
func (m memory) follow(name string) string {
	for range maxLinks {
		at, rest, to, linked := ".", name, "", false
		for rest != "" && !linked {
			var step string
			step, rest, _ = strings.Cut(rest, "/")
			at = path.Join(at, step)
			to, linked = m.links[at]
		}
		if !linked {
			return name
		}
		if name = path.Join(to, rest); to == "" || !fs.ValidPath(name) {
			return ""
		}
	}
	return ""
}
