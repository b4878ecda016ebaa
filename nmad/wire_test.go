package nmad

import (
	"fmt"
	"github.com/pm2-go/pm2/nmad/internal/flow"
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
		flow.KindEager: "EAGER", flow.KindRdv: "RDV", flow.KindRtr: "RTR", flow.KindCredit: "CREDIT", flow.KindBye: "BYE", flow.KindByeAck: "BYEACK",
		flow.KindAggregate: "AGGREGATE", flow.KindLink: "LINK", flow.KindFull: "FULL", flow.KindRoom: "ROOM",
		flow.KindLoan: "LOAN", flow.KindReturn: "RETURN", flow.KindNote: "NOTE",
		flow.KindExpose: "EXPOSE",
	} {
		if row := fmt.Sprintf("| %d | %s |", kind, name); !strings.Contains(string(text), row) {
			t.Errorf("docs/wire.md lacks %q", row)
		}
	}
}
