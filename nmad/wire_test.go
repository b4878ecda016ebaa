package nmad

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestWireDocument: docs/wire.md has every kind of packet under its number.
func TestWireDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	for kind, name := range map[int]string{
		kindEager: "EAGER", kindRdv: "RDV", kindRtr: "RTR", kindCredit: "CREDIT", kindBye: "BYE", kindByeAck: "BYEACK",
		kindAggregate: "AGGREGATE", kindLink: "LINK", kindFull: "FULL", kindRoom: "ROOM",
		kindLoan: "LOAN", kindReturn: "RETURN", kindNote: "NOTE",
	} {
		if row := fmt.Sprintf("| %d | %s |", kind, name); !strings.Contains(string(text), row) {
			t.Errorf("docs/wire.md lacks %q", row)
		}
	}
}
