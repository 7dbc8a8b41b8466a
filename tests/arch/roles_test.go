package arch

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sundry/core/identity"
)

// TestRolesDocument holds docs/roles.md to the table of who may do what.
func TestRolesDocument(t *testing.T) {
	t.Parallel()
	const path = "../../docs/roles.md"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	words, _, _ := strings.Cut(string(raw), "\n| Area")
	var table strings.Builder
	table.WriteString("\n| Area |")
	for _, role := range identity.Roles() {
		fmt.Fprintf(&table, " %s |", role)
	}
	table.WriteString("\n|---|" + strings.Repeat("---|", len(identity.Roles())) + "\n")
	for _, area := range identity.Areas() {
		fmt.Fprintf(&table, "| %s |", area.Name)
		for _, role := range identity.Roles() {
			may := "–"
			if slices.Contains(area.Read, role) {
				may = "read"
			}
			if slices.Contains(area.Change, role) {
				may = "change"
			}
			fmt.Fprintf(&table, " %s |", may)
		}
		table.WriteString("\n")
	}
	want := words + table.String()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(raw) != want {
		t.Errorf("docs/roles.md is out of date: go test ./tests/arch -update. Want:\n%s", want)
	}
}
