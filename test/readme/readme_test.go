package readme

import (
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// fence is a program in a page.
var fence = regexp.MustCompile("(?s)```go\n(.*?)```")

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPrograms: what README.md shows is forkjoin/main.go and messages/main.go.
func TestPrograms(t *testing.T) {
	page := read(t, "README.md")
	for _, name := range []string{"forkjoin", "messages"} {
		if !strings.Contains(page, "```go\n"+read(t, "test/readme/"+name+"/main.go")+"```\n") {
			t.Errorf("README.md does not show test/readme/%s/main.go as it is", name)
		}
	}
	if n := len(fence.FindAllString(page, -1)); n != 2 {
		t.Errorf("README.md shows %d programs, 2 are run", n)
	}
}

// TestForkJoin runs README's first program: it prints what its comment says.
func TestForkJoin(t *testing.T) {
	var errs bytes.Buffer
	cmd := exec.Command("go", "run", "./forkjoin")
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	comment := regexp.MustCompile(`println\(fib\(25\)\) }\) // (\d+)`).FindStringSubmatch(read(t, "test/readme/forkjoin/main.go"))
	if comment == nil || strings.TrimSpace(errs.String()) != comment[1] {
		t.Errorf("it prints %q, and its comment says %q", errs.String(), comment)
	}
}

// TestMessages runs README's second program as README says.
func TestMessages(t *testing.T) {
	out := t.TempDir()
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", out+"/", "./messages", "../../cmd/demo")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	text, err := exec.CommandContext(t.Context(), out+"/demo", "run", "-n", "2", out+"/messages").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, want := range []string{"rank 0 computed 50000000 and received 1048576 bytes, error <nil>", "rank 1 computed 50000000 and received 1048576 bytes, error <nil>"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("it prints\n%s\nwithout %q", text, want)
		}
	}
}

var (
	code    = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	command = regexp.MustCompile(`go (?:run|test|vet|build)[^\n|` + "`" + `]*?(\./[\w./-]+)`)
)

// TestLinks: files that prose links to exist, as do the folders of the commands it
// names.
func TestLinks(t *testing.T) {
	pages := 0
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		pages++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, broken := range brokenLinks(path, string(text)) {
			t.Errorf("%s: %s", path, broken)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 3 {
		t.Errorf("found %d pages of prose only", pages)
	}
}

// brokenLinks lists what the page at path refers to and is not there. Commands are
// meant to be given in the root.
func brokenLinks(path, text string) (broken []string) {
	for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, "``"), -1) {
		u, err := url.Parse(m[1])
		if err != nil {
			broken = append(broken, "link "+m[1]+": "+err.Error())
			continue
		}
		if u.Scheme != "" {
			continue // elsewhere
		}
		page := text
		if u.Path != "" {
			to := filepath.Join(filepath.Dir(path), u.Path)
			there, err := os.ReadFile(to)
			if _, not := os.Stat(to); not != nil {
				broken = append(broken, "link "+m[1]+" leads nowhere")
			}
			if err != nil || filepath.Ext(to) != ".md" {
				continue
			}
			page = string(there)
		}
		if u.Fragment != "" && !titled(page, u.Fragment) {
			broken = append(broken, "link "+m[1]+": the page has no such title")
		}
	}
	for _, m := range command.FindAllStringSubmatch(text, -1) {
		if name := strings.TrimSuffix(m[1], "/..."); name != "." {
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				broken = append(broken, "command "+m[0]+": there is no "+name)
			}
		}
	}
	return broken
}

var (
	title     = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	linkText  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	noAnchors = regexp.MustCompile(`[^\pL\pN_ -]`)
)

// titled reports whether the page has an anchor of that name, or a title that has: small letters, a hyphen for each
// blank.
func titled(page, anchor string) bool {
	if strings.Contains(page, `<a id="`+anchor+`">`) {
		return true
	}
	for _, m := range title.FindAllStringSubmatch(code.ReplaceAllStringFunc(page, func(s string) string { return strings.Trim(s, "`") }), -1) {
		words := noAnchors.ReplaceAllString(strings.ToLower(linkText.ReplaceAllString(m[1], "$1")), "")
		if strings.ReplaceAll(words, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// TestDecisionsAreListed: the index has every decision.
func TestDecisionsAreListed(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs/decisions/*.md"))
	if err != nil || len(files) < 2 {
		t.Fatalf("found %v, %v", files, err)
	}
	index := read(t, "docs/decisions/README.md")
	for _, f := range files {
		if name := filepath.Base(f); name != "README.md" && !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/decisions/README.md does not list %s", name)
		}
	}
}

func TestBrokenLinksAreSeen(t *testing.T) {
	page := filepath.Join(root, "README.md")
	good := "[x](LICENSE) [y](https://example.org/none) [z](#the-limits-of-go) [w](test/readme#x)\n## The limits of `Go`\n`go test ./...` and `go run ./test/peers -reps 5` and go test -v ./test/readme\n`make([]T](n)` ```\nm[T](n)\n```\n"
	if broken := brokenLinks(page, good); len(broken) != 0 {
		t.Errorf("good ones are called broken: %v", broken)
	}
	bad := "[x](LICENCE) [y](#limits) [z](README.md#none)\n`go run ./cmd/none pingpong`\n"
	if broken := brokenLinks(page, bad); len(broken) != 4 {
		t.Errorf("found %v, want four", broken)
	}
}

// decisionParts are the headings of a page of docs/decisions, in their order. Measured may be missing.
var decisionParts = []string{"Context", "Decision", "Consequences", "Rejected", "Measured"}

// TestDecisionsHaveParts: each decision begins with a sentence of its own, and has its parts in order.
func TestDecisionsHaveParts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs/decisions/*.md"))
	if err != nil || len(files) < 2 {
		t.Fatalf("found %v, %v", files, err)
	}
	for _, f := range files {
		if name := filepath.Base(f); name != "README.md" {
			if lacks := lacksOfDecision(read(t, "docs/decisions/"+name)); lacks != "" {
				t.Errorf("docs/decisions/%s %s", name, lacks)
			}
		}
	}
}

// lacksOfDecision says what a decision's page lacks; empty: nothing.
func lacksOfDecision(page string) string {
	blocks := strings.SplitN(page, "\n\n", 3)
	if len(blocks) < 3 || !strings.HasPrefix(blocks[0], "# ") || strings.HasPrefix(blocks[1], "#") || !strings.HasSuffix(blocks[1], ".") {
		return "does not begin with a title and a sentence"
	}
	rest := page
	for _, part := range decisionParts {
		_, behind, found := strings.Cut(rest, "\n## "+part+"\n")
		if !found && part != "Measured" {
			return "has no part " + part + " behind those that stand before it"
		}
		if found {
			rest = behind
		}
	}
	return ""
}

func TestLacksOfDecisionsAreSeen(t *testing.T) {
	good := "# A\n\nOne sentence.\n\n## Context\nx\n## Decision\nx\n## Consequences\nx\n## Rejected\nx\n"
	if lacks := lacksOfDecision(good); lacks != "" {
		t.Errorf("a good page %s", lacks)
	}
	for _, bad := range []string{
		strings.Replace(good, "One sentence.\n\n", "", 1),
		strings.Replace(good, "## Rejected", "## Refused", 1),
		"# A\n\nOne sentence.\n\n## Decision\nx\n## Context\nx\n## Consequences\nx\n## Rejected\nx\n",
	} {
		if lacksOfDecision(bad) == "" {
			t.Errorf("nothing is said to lack in\n%s", bad)
		}
	}
}
