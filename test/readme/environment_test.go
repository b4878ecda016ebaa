package readme

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// TestVariablesAreDocumented: each variable that the library reads stands in a table of the pages. What the tables say
// of the variables of a job and of the engine is compared with Go's own tables beside these.
func TestVariablesAreDocumented(t *testing.T) {
	var pages strings.Builder
	for _, page := range []string{"environment.md", "parameters.md", "observability.md"} {
		text, err := os.ReadFile(filepath.Join("../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		pages.Write(text)
	}
	variable := regexp.MustCompile(`"(?:PM2|PIOM)_[A-Z][A-Z0-9_]*"`)
	found := 0
	for _, room := range []string{"asm", "hooks", "sched", "tasklet", "marcel", "pioman", "nmad"} {
		err := filepath.WalkDir(filepath.Join("../..", room), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, name := range variable.FindAll(text, -1) {
				found++
				if name := strings.Trim(string(name), `"`); !strings.Contains(pages.String(), "\n| `"+name+"` |") {
					t.Errorf("%s reads %s, of which no table in docs tells", path, name)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 30 {
		t.Errorf("only %d variables found", found)
	}
}

// TestStrategiesAreListed: the values of PM2_STRATEGY are the strategies that there are.
func TestStrategiesAreListed(t *testing.T) {
	i := slices.IndexFunc(nmad.Environment, func(v nmad.Variable) bool { return v.Name == nmad.EnvStrategy })
	if want := strings.Join(strategy.Names(), ", "); i < 0 || nmad.Environment[i].Values != want {
		t.Errorf("the row of %s in nmad/env.go, and in docs/environment.md, should have the values %s", nmad.EnvStrategy, want)
	}
}
