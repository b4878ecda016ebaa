package layers

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// stated are sentences of the pages whose numbers are constants: the page, the sentence, the constant, and the unit of
// the number.
var stated = []struct {
	page, sentence, constant string
	unit                     int64
}{
	{"docs/wire.md", "at most %s bytes, one directly after the other as far as NOTEs are concerned", "nmad/internal/flow.NotePiece", 1},
	{"docs/wire.md", "no more than %s notes at once", "nmad.maxNotes", 1},
	{"docs/wire.md", "messages in no more than %s contexts but 1", "nmad/internal/flow.MaxContexts", 1},
	{"docs/wire.md", "AGGREGATE: 2 to %s messages", "nmad/internal/flow.MaxAggregate", 1},
	{"docs/wire.md", "at least %s and less than what is left", "nmad/internal/flow.MinChunk", 1},
	{"docs/wire.md", "the sum of body + %s over all EAGER packets", "nmad/internal/flow.Overhead", 1},
	{"docs/wire.md", "the locator of the memory (%s); where in it", "nmad/internal/flow.LoanLocator", 1},
	{"docs/wire.md", "Every packet is a header of %s bytes", "nmad/driver.HeaderSize", 1},
	{"docs/wire.md", "it names the domains, at most %s", "nmad.lastDomain", 1},
	{"docs/wire.md", "| host identity | at most %s bytes |", "nmad/internal/roster.maxHost", 1},
	{"docs/wire.md", "| name of the host | at most %s bytes;", "nmad/internal/roster.MaxName", 1},
	{"docs/wire.md", "| name of the driver | at most %s bytes;", "nmad/internal/roster.maxDriver", 1},
	{"docs/wire.md", "like the standby address at most %s bytes", "nmad/internal/roster.maxAddr", 1},
	{"docs/wire.md", "reason (string, at most %s bytes)", "nmad/internal/roster.maxReason", 1},
	{"docs/wire.md", "| number of rails | at most %s;", "nmad/internal/roster.MaxRails", 1},
	{"docs/wire.md", "Each side has %s s for all of it", "nmad/internal/roster.DefaultHandshake", int64(time.Second)},
	{"docs/wire.md", "Values have at most %s printable bytes", "nmad/internal/manager.maxValueBytes", 1},
	{"docs/wire.md", "up to %s of its addresses", "nmad/internal/manager.maxNetworks", 1},
	{"docs/wire.md", "in the contexts %s to", "nmad/rma.FirstContext", 1},
	{"docs/wire.md", "in the contexts 60000 to %s", "nmad/rma.LastContext", 1},
	{"docs/wire.md", "and the body, %s KiB together at most", "nmad/am.shortSize", 1 << 10},
	{"docs/wire.md", "n being its number, below %s", "nmad/mpi.maxComms", 1},
	{"docs/wire.md", "the bits from %s on are the age of the number |", "nmad/mpi.ageOfMessages", 1},
	{"docs/wire.md", "the number of the operation; the bits from %s on are the age", "nmad/mpi.ageOfCollectives", 1},
	{"docs/wire.md", "request: a head of %s bytes", "nmad/rma.headBytes", 1},
	{"docs/wire.md", "of a put of up to %s KiB the bytes", "nmad/rma.inlineBytes", 1 << 10},
	{"docs/environment.md", "in `nmad.Config.Spin`, %s us by default", "nmad.DefaultSpin", int64(time.Microsecond)},
	{"docs/environment.md", "| 1 to %s | 1 | how many processes the job has |", "nmad/driver.MaxSize", 1},
	{"docs/environment.md", "| %s | memory of the buffers out of which messages are loaned", "nmad.DefaultLoans", 1},
	{"docs/domains.md", "%s may be open at once", "nmad.MaxDomains", 1},
	{"docs/abi.md", "(below %s, `MPI_IN_PLACE` where it is not allowed)", "nmad/mpi/abi.firstAddress", 1},
	{"docs/abi.md", "more than %s communicators", "nmad/mpi.maxComms", 1},
	{"docs/am.md", "A body below %s B, or one", "nmad/am.direct", 1},
	{"docs/decisions/collectives-as-plans.md", "has at most %s open", "nmad.maxContexts", 1},
	{"docs/walkthrough.md", "one sendto, at most %s MiB", "nmad/driver/internal/stream.maxMove", 1 << 20},
	{"docs/walkthrough.md", "at most %s times a poll", "nmad.rounds", 1},
	{"docs/walkthrough.md", "for Config.Spin (%s us)", "nmad.DefaultSpin", int64(time.Microsecond)},
	{"docs/walkthrough.md", "its slice is over (%s ms", "sched.defaultSlice", int64(time.Millisecond)},
	{"docs/decisions/collectives-in-shared-memory.md", "a ring of %s slots with a flag each", "nmad/mpi/internal/segment.Slots", 1},
	{"docs/decisions/messages-from-c.md", "in a ring of %s of the lane", "nmad/mpi/abi.laneSlips", 1},
	{"docs/decisions/messages-from-c.md", "are for at most %s KiB", "nmad.maxSlipBytes", 1 << 10},
	{"docs/decisions/messages-from-c.md", "look every %s ms whether the same slips", "nmad.slipDelay", int64(time.Millisecond)},
	{"docs/decisions/one-sided.md", "has at most %s under way at each target", "nmad/rma.maxUnderway", 1},
	{"docs/decisions/poll-or-block.md", "The kernel wakes a sleeper for %s KiB", "nmad/driver/internal/stream.DefaultWakeBytes", 1 << 10},
	{"docs/decisions/poll-or-block.md", "does so after %s ms", "pioman.keepPFor", 1},
	{"docs/decisions/long-messages-over-sockets.md", "A body of %s KiB or more leaves", "nmad/driver/internal/stream.minDirect", 1 << 10},
	{"docs/decisions/long-messages-over-sockets.md", "One call moves up to %s MiB", "nmad/driver/internal/stream.maxMove", 1 << 20},
	{"docs/decisions/large-messages-over-shm.md", "From %s KiB on a message may be offered", "nmad/driver/shm.standardMinOffer", 1 << 10},
	{"docs/decisions/messages-in-parts.md", "into a bounce buffer of %s KiB", "nmad/internal/flow.BounceSize", 1 << 10},
	{"docs/decisions/messages-in-parts.md", "Pieces of less than %s KiB are gathered", "nmad/internal/flow.LongPiece", 1 << 10},
	{"docs/decisions/lost-hosts.md", "kernel has not answered for %s s", "nmad/internal/roster.hostLimit", int64(time.Second)},
	{"docs/decisions/own-rank.md", "Messages of up to %s KiB go eagerly", "nmad/driver/self.maxBody", 1 << 10},
	{"docs/mpi.md", "%s KiB to the own rank", "nmad/driver/self.maxBody", 1 << 10},
	{"nmad/config.go", "Default %s s;", "nmad.DefaultTimeout", int64(time.Second)},
	{"nmad/config.go", "peers to take them in; default %s s", "nmad.DefaultLinger", int64(time.Second)},
	{"nmad/config.go", "default %s us; below 0", "nmad.DefaultSpin", int64(time.Microsecond)},
	{"nmad/config.go", "in bytes per peer; default %s MiB\n", "nmad.DefaultUnexpected", 1 << 20},
	{"nmad/config.go", "in bytes per peer; default %s MiB, at least", "nmad.DefaultLoans", 1 << 20},
	{"nmad/config.go", "MiB, at least 4 KiB, at most %s GiB", "nmad.maxLoanBytes", 1 << 30},
	{"nmad/config.go", "for a message behind them; default %s,", "nmad.DefaultAnnounced", 1},
	{"nmad/config.go", "%s min until all processes", "nmad.meetLimit", int64(time.Minute)},
	{"nmad/launch/spec.go", "Default %s s.", "nmad/launch.defaultGrace", int64(time.Second)},
}

// kinds are the parts of docs/wire.md that list what a package has constants for.
var kinds = []struct {
	from, to, room, prefix string
}{
	{"### Frames\n", "## Becoming a link", "nmad/internal/roster", "kind"},
	{"## Packets on the small track\n", "## The large track", "nmad/internal/flow", "Kind"},
}

var goLineEnds = regexp.MustCompile(`\n\s*// ?`)

// TestStated: the numbers that the pages state are those of the code.
func TestStated(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the library")
	}
	packages, pages := loadLibrary(t), map[string]string{}
	page := func(name string) string {
		if pages[name] == "" {
			text, err := os.ReadFile("../../" + name)
			if err != nil {
				t.Fatal(err)
			}
			pages[name] = string(text)
			if strings.HasSuffix(name, ".go") {
				pages[name] = goLineEnds.ReplaceAllString(pages[name], " ") // sentences go on in the next line of a comment
			}
		}
		return pages[name]
	}
	for _, s := range stated {
		if err := States(page(s.page), s.sentence, packages, module, s.constant, s.unit); err != nil {
			t.Errorf("%s: %v", s.page, err)
		}
	}
	for _, k := range kinds {
		_, part, _ := strings.Cut(page("docs/wire.md"), k.from)
		part, _, ok := strings.Cut(part, k.to)
		if !ok {
			t.Errorf("docs/wire.md has no part from %q to %q", k.from, k.to)
		}
		for _, missing := range ListsKinds(part, packages, module+"/"+k.room, k.prefix) {
			t.Errorf("docs/wire.md, %q: %s", k.from, missing)
		}
	}
}

// TestStatedFound: a page that says another number, or lacks a kind, is found.
func TestStatedFound(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/small\n\ngo 1.26\n",
		"a.go":   "package small\n\nconst (\n\tkindCard = 1 + iota\n\tkindTable\n)\n\nconst most = 24 << 10\n",
	} {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	packages, err := load(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		page, sentence, constant string
		unit                     int64
		good                     bool
	}{
		{"a domain has at most\n24,576 of them", "at most %s of", "small.most", 1, true},
		{"a domain has at most 24576 of them", "at most %s of", "small.most", 1, true},
		{"a domain has at most 24 KiB of them", "at most %s KiB", "small.most", 1 << 10, true},
		{"a domain has at most 24,577 of them", "at most %s of", "small.most", 1, false},
		{"a domain has at most 24576 of them", "at most %s of", "small.least", 1, false},
		{"a domain has at most 24576 of them", "at most %s of", "small.most", 1000, false},
	} {
		if err := States(c.page, c.sentence, packages, "example.org", c.constant, c.unit); (err == nil) != c.good {
			t.Errorf("%+v: %v", c, err)
		}
	}
	rows := "\n| 1 | CARD | x |\n| 4 | length | of it |\n"
	if missing := ListsKinds(rows+"| 2 | TABLE | y |\n", packages, "example.org/small", "kind"); missing != nil {
		t.Errorf("found %v", missing)
	}
	if missing := ListsKinds(rows+"| 3 | READY | y |\n", packages, "example.org/small", "kind"); len(missing) != 2 {
		t.Errorf("found %v, want TABLE and READY", missing)
	}
}
