package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"strings"
	"testing"
)

// alike are the types of C that lie in memory as those of Go do. Go's bool is a byte; its atomic.Bool is a word of 32
// bits (TestBool), which C has to read as a whole.
var alike = map[string]string{
	"*atomic.Uint32": "uint32_t *", "*uint32": "uint32_t *", "*atomic.Int32": "int32_t *", "*int8": "int8_t *", "*bool": "uint8_t *", "*uint8": "uint8_t *",
	"*atomic.Bool": "uint32_t *", "*int": "int64_t *", "*int64": "int64_t *", "*uint64": "uint64_t *", "*atomic.Uint64": "uint64_t *",
	"uint64": "uint64_t", "atomic.Uint64": "uint64_t", "int64": "int64_t", "int32": "int32_t", "uint32": "uint32_t", "atomic.Uint32": "uint32_t",
	"Ring": "struct pm2_ring", "atomic.Pointer[Lane]": "struct pm2_lane *", "cachedComm": "struct pm2_comm",
}

// otherwise are Go's names of words that C cannot call so.
var otherwise = map[string]string{"inlined": "Inline"}

// aWord are the types of C that Go may have as a word, or as an address without a type.
var aWord = regexp.MustCompile(`\*$|^(?:u?intptr_t|uint64_t)$`)

// TestLayout: what C and Go have in common lies alike for both: the same words, of the same types, in the same order.
func TestLayout(t *testing.T) {
	c := structsOfC(t, "front/lane.h")
	for name, fields := range structsOfC(t, "front/call.h") {
		c[name] = fields
	}
	for _, s := range []struct{ c, file, name string }{
		{"pm2_ring", "../../internal/lane/lane_unsafe.go", "Ring"},
		{"pm2_lane", "../../internal/lane/lane_unsafe.go", "Lane"},
		{"pm2_way", "../../internal/lane/lane_unsafe.go", "Way"},
		{"pm2_slip", "../../internal/lane/lane_unsafe.go", "Slip"},
		{"pm2_call", "call_unsafe.go", "cCall"},
		{"pm2_comm", "call_unsafe.go", "cachedComm"},
		{"pm2_shared", "call_unsafe.go", "frontState"},
	} {
		own := structOfGo(t, s.file, s.name)
		if len(own) == 0 || len(own) != len(c[s.c]) {
			t.Errorf("%s of C has %d words, %s of Go %d", s.c, len(c[s.c]), s.name, len(own))
			continue
		}
		for i, g := range own {
			x := c[s.c][i]
			if want := alike[g.kind]; !strings.EqualFold(strings.ReplaceAll(x.name, "_", ""), g.name) && otherwise[x.name] != g.name || g.size != x.size ||
				want != "" && want != x.kind || want == "" && !aWord.MatchString(x.kind) {
				t.Errorf("word %d of %s is %s %s[%s], that of %s is %s [%s]%s", i, s.c, x.kind, x.name, x.size, s.name, g.name, g.size, g.kind)
			}
		}
	}
}

// part is a field: of an array, with its size.
type part struct{ name, kind, size string }

// sizes are the lengths of Go's arrays, as C has them.
var sizes = map[string]string{"16": "16", "1024": "1024", "maxSlips": "4096"}

var (
	commentOfC = regexp.MustCompile(`(?s)/\*.*?\*/`)
	structOfC  = regexp.MustCompile(`(?s)struct (\w+) \{(.*?)\n\};`)
	defined    = regexp.MustCompile(`#define (PM2_\w+) (\w+)`)
)

// structsOfC are the fields of the structs of a header.
func structsOfC(t *testing.T, name string) map[string][]part {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	code, numbers := commentOfC.ReplaceAllString(string(text), ""), map[string]string{}
	for _, m := range defined.FindAllStringSubmatch(code, -1) {
		numbers[m[1]] = m[2]
	}
	all := map[string][]part{}
	for _, m := range structOfC.FindAllStringSubmatch(code, -1) {
		for line := range strings.SplitSeq(m[2], ";") {
			words := strings.Fields(strings.TrimSpace(line))
			if len(words) == 0 {
				continue
			}
			kind, names := words[0], strings.Join(words[1:], " ")
			if kind == "struct" || kind == "unsigned" {
				kind, names = kind+" "+words[1], strings.Join(words[2:], " ")
			}
			for name := range strings.SplitSeq(names, ", ") {
				p := part{name: strings.TrimLeft(name, "*"), kind: kind}
				if p.name != name {
					p.kind += " " + name[:len(name)-len(p.name)]
				}
				if before, size, ok := strings.Cut(p.name, "["); ok {
					if p.name, p.size = before, strings.TrimSuffix(size, "]"); numbers[p.size] != "" {
						p.size = numbers[p.size]
					}
				}
				all[m[1]] = append(all[m[1]], p)
			}
		}
	}
	return all
}

// structOfGo is the fields of a struct, but for functions.
func structOfGo(t *testing.T, file, name string) (all []part) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.TypeSpec)
		if !ok || s.Name.Name != name {
			return true
		}
		for _, field := range s.Type.(*ast.StructType).Fields.List {
			p := part{kind: types.ExprString(field.Type)}
			if _, is := field.Type.(*ast.FuncType); is {
				continue
			}
			if array, is := field.Type.(*ast.ArrayType); is {
				p.kind, p.size = types.ExprString(array.Elt), sizes[types.ExprString(array.Len)]
			}
			for _, n := range field.Names {
				p.name = n.Name
				all = append(all, p)
			}
		}
		return false
	})
	return all
}
