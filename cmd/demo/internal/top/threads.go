package top

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/pm2-go/pm2/marcel/monitor"
)

// WriteThreads writes the first most threads of a list, in the columns of observe.WriteThreads ("-" for work that is
// not counted), and how many there are besides.
func WriteThreads(w io.Writer, l monitor.Threads, most int) error {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\nID\tNAME\tSTATE\tIN\tVP\tON\tSWITCHES\tMOVES\tRUN\tOFF")
	shown := l.Threads[:min(len(l.Threads), most)]
	for _, t := range shown {
		in, on := "-", "-"
		if t.In != "" {
			in = t.In
		}
		if t.On != 0 {
			on = fmt.Sprintf("%#x", t.On)
		}
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%d\t%s\t", t.ID, plain(t.Name), plain(t.State), plain(in), t.VP, on)
		if w := t.Work; w == nil {
			fmt.Fprintln(tw, "-\t-\t-\t-")
		} else {
			fmt.Fprintf(tw, "%d\t%d\t%v\t%v\n", w.Switches, w.Moves, w.Run.Round(time.Microsecond), w.Off.Round(time.Microsecond))
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if more := l.Alive - len(shown); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// plain is a text of another process as a terminal may see it.
func plain(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}
