package size

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text string
		want List
		err  string
	}{
		{text: "1:16", want: List{1, 2, 4, 8, 16}},
		{text: "1:20", want: List{1, 2, 4, 8, 16}},
		{text: "3:20", want: List{3, 6, 12}},
		{text: "4:4", want: List{4}},
		{text: "512:2K", want: List{512, 1024, 2048}},
		{text: "1,8,4K,1M", want: List{1, 8, 4 << 10, 1 << 20}},
		{text: "8,1", want: List{8, 1}},
		{text: "1:4,1M", want: List{1, 2, 4, 1 << 20}},
		{text: "1G", want: List{1 << 30}},
		{text: "512M:1G", want: List{1 << 29, 1 << 30}},
		{text: "4:1", err: `"4:1" runs backwards: write it as 1:4`},
		{text: "1M:64K", err: "write it as 64K:1M"},
		{text: "", err: "is no size"},
		{text: "K", err: "is no size"},
		{text: "1,", err: "is no size"},
		{text: ":4", err: "is no size"},
		{text: "1:", err: "is no size"},
		{text: "1:2:4", err: "is no size"},
		{text: "-1", err: "is no size"},
		{text: "+1", err: "is no size"},
		{text: "1.5K", err: "is no size"},
		{text: "4k", err: "suffixes K, M, G"},
		{text: "4KB", err: "is no size"},
		{text: " 4", err: "is no size"},
		{text: "0", err: "smallest size is 1"},
		{text: "0:8", err: "smallest size is 1"},
		{text: "2G", err: "largest size is 1G"},
		{text: "99999999999999999999", err: "largest size is 1G"},
		{text: "9223372036854775807G", err: "largest size is 1G"},
		{text: strings.Repeat("1:1G,", 40) + "1", err: "more than 1024 sizes"},
	} {
		got, err := Parse(test.text)
		switch {
		case test.err == "" && err != nil:
			t.Errorf("Parse(%q): %v", test.text, err)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("Parse(%q) = %v, %v; want an error that says %q", test.text, got, err, test.err)
		case err != nil && strings.Contains(err.Error(), "\n"):
			t.Errorf("Parse(%q): the error has several lines: %v", test.text, err)
		default:
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Parse(%q): %s", test.text, diff)
			}
		}
	}
}

// TestRoundTrip: what String writes, Parse reads.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := List(rapid.SliceOfN(rapid.IntRange(1, Max), 1, 20).Draw(t, "sizes"))
		got, err := Parse(l.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(l, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestJSON: numbers there and back.
func TestJSON(t *testing.T) {
	text, err := json.Marshal(List{1, 4096})
	if err != nil || string(text) != "[1,4096]" {
		t.Fatalf("%s, %v", text, err)
	}
	var got List
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(List{1, 4096}, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`[0]`, `[-1]`, `[2147483648]`, `["4K"]`, `"1:4"`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s passed", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("1:64K")
	f.Add("1,8,4K,1M")
	f.Add("4:1")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text)
		if err != nil {
			return
		}
		for _, s := range l {
			if s < 1 || s > Max {
				t.Errorf("Parse(%q) let %d through", text, s)
			}
		}
	})
}
