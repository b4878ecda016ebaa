//go:build !race

// What is built here knows nothing of the race detector.

package readme

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/pm2-go/pm2/marcel" // a test that has passed is run again when that changes
)

// A block is a piece of Go in a page: the body of a function, or a whole program
// if it begins with a package clause. It ends with a comment that says what it
// prints, as an Example does.
type block struct {
	line int // of the page
	code string
}

var (
	output  = regexp.MustCompile(`(?s)\n// Output:(.*)$`)
	mention = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.[A-Z]`)
)

// packages are those that the bodies may use without an import clause.
var packages = map[string]string{
	"context": "context", "errors": "errors", "fmt": "fmt", "http": "net/http", "httptest": "net/http/httptest",
	"io": "io", "os": "os", "runtime": "runtime", "sync": "sync", "syscall": "syscall", "time": "time",
	"marcel": "github.com/pm2-go/pm2/marcel", "sched": "github.com/pm2-go/pm2/sched",
}

func blocksOf(page string) (blocks []block) {
	for _, at := range fence.FindAllStringSubmatchIndex(page, -1) {
		blocks = append(blocks, block{line: strings.Count(page[:at[2]], "\n") + 1, code: page[at[2]:at[3]]})
	}
	return blocks
}

// whole says that the block is a program of its own.
func (b block) whole() bool { return strings.HasPrefix(b.code, "package ") }

// name is what its function, or program, is called.
func (b block) name() string { return fmt.Sprintf("line%d", b.line) }

// file is the block as a file of package main: a body becomes a function.
func (b block) file() string {
	if b.whole() {
		return b.code
	}
	var imports []string
	for _, m := range mention.FindAllStringSubmatch(b.code, -1) {
		if path, ok := packages[m[1]]; ok && !slices.Contains(imports, path) {
			imports = append(imports, path)
		}
	}
	slices.Sort(imports)
	var text strings.Builder
	text.WriteString("package main\n\nimport (\n")
	for _, path := range imports {
		fmt.Fprintf(&text, "\t%q\n", path)
	}
	fmt.Fprintf(&text, ")\n\nfunc %s() {\n%s}\n", b.name(), b.code)
	return text.String()
}

// says is what the block prints according to itself; ok: it says so.
func (b block) says() (text string, ok bool) {
	m := output.FindStringSubmatch(strings.TrimSpace(b.code))
	if m == nil {
		return "", false
	}
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(m[1])) {
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//")))
	}
	return strings.Join(lines, "\n"), true
}

// TestGuide compiles and runs every block of the guide for Go people: it prints what it says.
func TestGuide(t *testing.T) {
	runBlocks(t, "docs/migrating.md", 10)
}

// TestMPIGuide does the same with the guide for MPI people, whose programs are jobs of three processes; the lines of
// these come in any order.
func TestMPIGuide(t *testing.T) {
	demo := filepath.Join(t.TempDir(), "demo")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", demo, "../../cmd/demo").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	runBlocks(t, "docs/mpi.md", 3, demo, "run", "--plain", "-n", "3")
}

// runBlocks compiles and runs the blocks of a page, of which there are at least some, behind the words of launch.
func runBlocks(t *testing.T, page string, atLeast int, launch ...string) {
	blocks := blocksOf(read(t, page))
	if len(blocks) < atLeast {
		t.Fatalf("found %d blocks of Go only", len(blocks))
	}
	// An overlay shows the go command folders inside the module; what is written is elsewhere.
	// All bodies are functions of one program, since to link takes longer than all the rest.
	here, err := filepath.Abs("guide")
	if err != nil {
		t.Fatal(err)
	}
	sources, binaries := t.TempDir(), t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	add := func(folder, name, text string) {
		source := filepath.Join(sources, name+".go")
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(here, folder, name+".go")] = source
	}
	folders, choice := []string{"./guide/bodies"}, ""
	for _, b := range blocks {
		if b.whole() {
			add(b.name(), b.name(), b.file())
			folders = append(folders, "./guide/"+b.name())
		} else {
			add("bodies", b.name(), b.file())
			choice += fmt.Sprintf("\t\t%q: %s,\n", b.name(), b.name())
		}
	}
	if choice == "" {
		folders = folders[1:]
	} else {
		add("bodies", "main", "package main\n\nimport \"os\"\n\nfunc main() {\n\tmap[string]func(){\n"+choice+"\t}[os.Args[1]]()\n}\n")
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(sources, "overlay.json")
	if err := os.WriteFile(list, text, 0o644); err != nil {
		t.Fatal(err)
	}
	build := append([]string{"build", "-buildvcs=false", "-ldflags=-s -w", "-overlay", list, "-o", binaries + "/"}, folders...)
	if out, err := exec.Command("go", build...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, b := range blocks {
		t.Run(fmt.Sprintf("line %d", b.line), func(t *testing.T) {
			want, ok := b.says()
			if !ok {
				t.Fatal("the block does not end with // Output:")
			}
			program, args := "bodies", []string{b.name()}
			if b.whole() {
				program, args = b.name(), nil
			}
			line := append(slices.Concat(launch, []string{filepath.Join(binaries, program)}), args...)
			out, err := exec.CommandContext(t.Context(), line[0], line[1:]...).CombinedOutput()
			got := strings.TrimSpace(string(out))
			if launch != nil {
				lines := strings.Split(got, "\n")
				slices.Sort(lines)
				got = strings.Join(lines, "\n")
			}
			if err != nil || got != want {
				t.Errorf("%v; it prints\n%s\nand says\n%s", err, got, want)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	page := "text\n```go\nfmt.Println(os.Args)\nx.Errors()\n// Output:\n// a\n// b\n```\n```\nnot Go\n```\n```go\npackage main\n```\n"
	blocks := blocksOf(page)
	if len(blocks) != 2 || blocks[0].line != 3 {
		t.Fatalf("found %+v", blocks)
	}
	want := "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc line3() {\n" + blocks[0].code + "}\n"
	if got := blocks[0].file(); got != want {
		t.Errorf("made\n%s", got)
	}
	if got, ok := blocks[0].says(); !ok || got != "a\nb" {
		t.Errorf("says %q, %v", got, ok)
	}
	if got := blocks[1].file(); got != "package main\n" {
		t.Errorf("made\n%s of a whole program", got)
	}
	if _, ok := blocks[1].says(); ok {
		t.Error("it says nothing")
	}
}
