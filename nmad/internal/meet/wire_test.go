package meet

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestWireDocument: docs/wire.md says of the exchange what is in the code.
func TestWireDocument(t *testing.T) {
	text, err := os.ReadFile("../../../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		fmt.Sprintf("| %#X | hello |", kindHello), fmt.Sprintf("| %#X | proof |", kindProof),
		fmt.Sprintf("| %#X | refusal |", kindRefusal), fmt.Sprintf("| %#X | segment, or card |", KindDriver),
		fmt.Sprintf("| %#X | mapped, or ready |", KindDriver+1),
		fmt.Sprintf("| %d | version | %d;", 2, Version),
		fmt.Sprintf("| %d | magic | `%s` and the byte %d |", len(magic), magic[:3], magic[3]),
		fmt.Sprintf("| %d | link |", LinkSize), fmt.Sprintf("| %d | nonce |", nonceSize),
		fmt.Sprintf("payload, at most %d |", MaxFrame), fmt.Sprintf("have %d s for all of it", int(Patience.Seconds())),
	} {
		if !strings.Contains(string(text), strings.Replace(row, "0X", "0x", 1)) {
			t.Errorf("docs/wire.md lacks %q", row)
		}
	}
}
