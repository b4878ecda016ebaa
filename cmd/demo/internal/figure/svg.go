package figure

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// families are what a viewer may draw texts with, in this order: the font by which they were measured, two of the same
// widths, and whatever there is.
const families = "'Liberation Sans',Arial,Helvetica,sans-serif"

// svg is a canvas whose texts stay where they belong in viewers that lack the font by which they were placed: each says
// how wide it is, so that another font is stretched to that width. So the ends of texts that are aligned to the right
// meet, no title leaves the picture, and nothing lies on what stands beside it.
type svg struct {
	*vgsvg.Canvas
	widths []vg.Length // of the texts, in the order in which they were written
}

// FillString implements vg.Canvas.
func (s *svg) FillString(f font.Face, at vg.Point, text string) {
	s.widths = append(s.widths, f.Width(text))
	s.Canvas.FillString(f, at, text)
}

// WriteTo implements io.WriterTo.
func (s *svg) WriteTo(w io.Writer) (int64, error) {
	var plain bytes.Buffer
	if _, err := s.Canvas.WriteTo(&plain); err != nil {
		return 0, err
	}
	var out strings.Builder
	parts := strings.Split(plain.String(), "<text ")
	out.WriteString(parts[0])
	for i, part := range parts[1:] {
		out.WriteString("<text ")
		if i < len(s.widths) && s.widths[i] > 0 {
			fmt.Fprintf(&out, `textLength="%.2f" lengthAdjust="spacingAndGlyphs" xml:space="preserve" `, s.widths[i].Points())
		}
		out.WriteString(strings.Replace(part, "font-family:Liberation Sans;", "font-family:"+families+";", 1))
	}
	n, err := io.WriteString(w, out.String())
	return int64(n), err
}
