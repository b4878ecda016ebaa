package topo

import (
	"strings"
	"testing"
)

func TestParseCPUList(t *testing.T) {
	for _, c := range []struct{ text, want, err string }{
		{"", "", ""},
		{"\n", "", ""},
		{"0", "0", ""},
		{"0-3,8", "0-3,8", ""},
		{" 5,1-2,2\n", "1-2,5", ""},
		{"0-31:2/8", "0-1,8-9,16-17,24-25", ""},
		{"100-500:1/400", "100,500", ""},
		{"0-500:1/400", "0,400", ""},
		{"16383", "16383", ""},
		{"16384", "", "CPU 16384 is too large: the largest is 16383"},
		{"4-1", "", `"4-1" runs backwards: write it as 1-4`},
		{"1,,2", "", `"" is no CPU number`},
		{"0-", "", `"" is no CPU number`},
		{"-1", "", `"" is no CPU number`},
		{"0x3", "", "no CPU number"},
		{"99999999999999999999", "", "no CPU number"},
		{"0-7:3", "", "write FIRST-LAST:USED/SIZE"},
		{"0-7:3/2", "", "write FIRST-LAST:USED/SIZE"},
		{"0-7:0/2", "", "write FIRST-LAST:USED/SIZE"},
		{"7:1/2", "", "write FIRST-LAST:USED/SIZE"},
	} {
		s, err := ParseCPUList(c.text)
		checkParse(t, c.text, s, err, c.want, c.err)
	}
}

func TestParseCPUMask(t *testing.T) {
	for _, c := range []struct{ text, want, err string }{
		{"f", "0-3", ""},
		{"0x5\n", "0,2", ""},
		{"00000001,00000000,80000000", "31,64", ""},
		{"0,0,0", "", ""},
		{"", "", "empty"},
		{"g", "", "no hexadecimal number"},
		{"1ffffffff", "", "of 32 bits"},
		{"1" + strings.Repeat(",0", 511), "16352", ""},
		{"1" + strings.Repeat(",0", 512), "", "too large"},
		{strings.Repeat("0,", 100000) + "1", "0", ""},
	} {
		s, err := ParseCPUMask(c.text)
		checkParse(t, c.text, s, err, c.want, c.err)
	}
}

func checkParse(t *testing.T, text string, s CPUSet, err error, want, wantErr string) {
	t.Helper()
	if s.String() != want || (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
		t.Errorf("%q: got %v, %v; want %s, %s", clip(text), s, err, want, wantErr)
	}
}
