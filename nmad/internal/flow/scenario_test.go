package flow

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/nmad/strategy"
)

var update = flag.Bool("update", false, "write what the scenarios in testdata do now as what they should do")

// TestScenarios runs testdata/*.txt: two flows, a and b, with nothing between them but what the text moves. Lines
// that begin with a bar are what the command above them prints.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			was, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			is := runScenario(string(was))
			if *update {
				if err := os.WriteFile(file, []byte(is), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if is != string(was) {
				t.Errorf("%s went otherwise (run with -update to accept); now it is\n%s", file, is)
			}
		})
	}
}

// scenario is one text in progress.
type scenario struct {
	w     *world
	reqs  map[string]*Request
	bytes map[string][]byte // of sends, by name
}

func runScenario(text string) string {
	var out strings.Builder
	s := &scenario{}
	s.reset(nil)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "| ") {
			continue
		}
		out.WriteString(line + "\n")
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		for _, reply := range s.run(words) {
			out.WriteString("| " + reply + "\n")
		}
	}
	return out.String()
}

// number is the n of a word name=n; other: there is no such word.
func number(words []string, name string, other int) int {
	for _, w := range words {
		if key, value, ok := strings.Cut(w, "="); ok && key == name {
			n, _ := strconv.ParseInt(value, 0, 64)
			return int(n)
		}
	}
	return other
}

func (sc *scenario) reset(words []string) {
	o := options{
		window: number(words, "window", 0), records: number(words, "records", 0), room: number(words, "room", 0), rails: number(words, "rails", 0),
		buffered: number(words, "buffered", 0) != 0, syscalls: number(words, "syscalls", 0) != 0,
		exposes: number(words, "exposes", 0) != 0,
	}
	for _, w := range words {
		if name, ok := strings.CutPrefix(w, "strategy="); ok {
			o.strategy, _ = strategy.Lookup(name)
		}
	}
	sc.w, sc.reqs, sc.bytes = newWorld(o), map[string]*Request{}, map[string][]byte{}
}

func (sc *scenario) run(words []string) (out []string) {
	switch words[0] {
	case "world":
		sc.reset(words[1:])
		return nil
	case "settle":
		sc.w.settle()
		return nil
	case "show":
		for _, name := range words[1:] {
			out = append(out, sc.show(name))
		}
		return out
	}
	i := strings.Index("ab", words[0])
	if i < 0 || len(words) < 2 {
		return []string{"what is " + strings.Join(words, " ") + "?"}
	}
	return sc.side(sc.w.sides[i], sc.w.sides[1-i], words[1], words[2:])
}

func (sc *scenario) side(x, other *side, verb string, rest []string) (out []string) {
	n := func(name string, other int) int { return number(rest, name, other) }
	switch verb {
	case "send", "ssend":
		b := data(n("len", 0), len(sc.reqs))
		r := request(uint64(n("tag", 0)), b)
		if r.Extras.Priority = int8(n("prio", 0)); verb == "ssend" {
			r.Extras.Sync = true
		}
		r.UsesExtras = r.Extras.Priority != 0 || r.Extras.Sync
		sc.reqs[rest[0]], sc.bytes[rest[0]] = r, b
		x.send(r)
	case "recv":
		r := request(uint64(n("tag", 0)), make([]byte, n("cap", 0)))
		sc.reqs[rest[0]] = r
		x.post(r, uint64(n("mask", -1)))
	case "cancel":
		return []string{fmt.Sprint("withdrawn: ", x.f.Withdraw(sc.reqs[rest[0]]))}
	case "leave": // packets leave, n of them, or all
		for _, p := range x.leave(n("n", -1)) {
			out = append(out, p.String())
		}
	case "take": // what the other side has sent
		for range n("n", 1<<20) {
			if !other.take(x) {
				break
			}
		}
	case "push", "pull": // bytes of announced messages
		dir := map[string]Direction{"push": Push, "pull": Pull}[verb]
		return []string{fmt.Sprintf("%d bytes", x.carry(other, n("rail", 0), dir, n("n", 1<<20)))}
	case "clog": // what is sent last stays in the link's buffer
		x.clogged = true
	case "blind": // the other side's memory cannot be read
		x.blind = true
	case "hide": // what was exposed
		x.hidden = true
	case "end":
		x.endOn(errors.New("it is over"))
	case "bye":
		x.f.Leave()
	case "ledger":
		l := x.f.Ledger()
		return []string{fmt.Sprintf("credit %d of %d, taken %d, owed %d, announced there %d of %d, here %d of %d, unexpected %d",
			l.Credit, l.Window, l.Taken, l.Owed, l.Outstanding, l.PeerRecords, l.Announced, l.Records, l.Unexpected)}
	case "ended":
		return []string{fmt.Sprint(x.ended)}
	default:
		return []string{"what is " + verb + "?"}
	}
	return out
}

func (sc *scenario) show(name string) string {
	r := sc.reqs[name]
	text := fmt.Sprintf("%s: %v", name, r.Stage)
	if r.Stage != Finished {
		return text
	}
	if text += fmt.Sprintf(", %d bytes", r.N); r.Kind == RequestRecv && r.N > 0 {
		for from, b := range sc.bytes {
			if bytes.HasPrefix(b, r.Data.Buf()[:r.N]) {
				text += " of " + from
			}
		}
	}
	if r.Err() != nil {
		text += ", " + r.Err().Error()
	}
	return text
}
