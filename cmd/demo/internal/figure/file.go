package figure

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// File is where a figure goes. The zero value and nil stand for "no figure".
type File struct {
	path string
	svg  bool
}

// Claim checks that a figure can be written to path: its ending, and that its folder takes new files. It leaves nothing
// behind.
func Claim(path string) (*File, error) {
	f := &File{path: path}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".svg":
		f.svg = true
	case ".png":
	default:
		return nil, fmt.Errorf("cannot tell the format of %q: let its name end in .svg or .png", path)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("cannot write the figure: %s is a directory; name a file in it", path)
	}
	t, err := f.temporary()
	if err != nil {
		return nil, err
	}
	t.Close()
	os.Remove(t.Name())
	return f, nil
}

func (f *File) temporary() (*os.File, error) {
	t, err := os.CreateTemp(filepath.Dir(f.path), ".demo-figure-*")
	if err != nil {
		why := err
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
			why = pe.Err // the temporary name would only confuse
		}
		return nil, fmt.Errorf("cannot write the figure %s: %w; choose a folder that exists and is writable", f.path, why)
	}
	return t, nil
}

// canvas is what both formats offer.
type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

// draw makes a canvas of that size, lets paint fill it and puts the file in place.
func (f *File) draw(width, height vg.Length, paint func(draw.Canvas) error) (err error) {
	var c canvas
	if f.svg {
		c = &svg{Canvas: vgsvg.New(width, height)}
	} else {
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(160))}
	}
	if err := paint(draw.New(c)); err != nil {
		return fmt.Errorf("draw the figure %s: %w", f.path, err)
	}
	t, err := f.temporary()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(t.Name())
			err = fmt.Errorf("write the figure %s: %w", f.path, err)
		}
	}()
	_, err = c.WriteTo(t)
	if err == nil {
		err = t.Chmod(0o644)
	}
	if e := t.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(t.Name(), f.path)
}
