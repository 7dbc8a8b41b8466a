package document

import (
	"strings"
	"testing"

	"sundry/core/id"
	"sundry/core/money"
	"sundry/core/secret"
)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func sound() Snapshot {
	return Snapshot{
		Kind: Receipt, Number: "R-1", Lines: []Line{{Amount: eur(1000)}, {Amount: eur(-100)}}, Subtotal: eur(900),
		Discount: eur(50),
		Credit:   eur(40), Tax: eur(160), TaxAdded: eur(160), Total: eur(970),
	}
}

func TestASnapshotMustAddUp(t *testing.T) {
	t.Parallel()
	if err := sound().Check(); err != nil {
		t.Error(err)
	}
	contained := sound()
	contained.TaxAdded, contained.Total = eur(0), eur(810)
	if err := contained.Check(); err != nil {
		t.Errorf("tax that the prices contain: %v", err)
	}
	for name, spoil := range map[string]func(*Snapshot){
		"a line is missing":            func(s *Snapshot) { s.Lines = s.Lines[:1] },
		"another currency among lines": func(s *Snapshot) { s.Lines[0].Amount.Currency = "usd" },
		"currencies that come to nothing": func(s *Snapshot) {
			*s = Snapshot{Lines: []Line{{Amount: eur(1)}, {Amount: money.Amount{Minor: 1, Currency: "usd"}}}, Total: eur(0)}
		},
		"one cent of the tax added": func(s *Snapshot) { s.TaxAdded = eur(1); s.Total = eur(811) },
		"another total":             func(s *Snapshot) { s.Total.Minor++ },
		"another discount":          func(s *Snapshot) { s.Discount.Minor-- },
		"tax added in part":         func(s *Snapshot) { s.TaxAdded.Minor--; s.Total.Minor-- },
	} {
		s := sound()
		s.Lines = append([]Line(nil), s.Lines...)
		if spoil(&s); s.Check() == nil {
			t.Errorf("%s, and it was accepted", name)
		}
	}
}

func TestALinkOpensItsDocumentAlone(t *testing.T) {
	t.Parallel()
	links := Links{BaseURL: "https://pay.example", Keys: secret.Fixed([]byte(strings.Repeat("k", 32)))}
	paymentID := id.New(id.Payment, [16]byte{7})
	url := links.URL(Receipt, paymentID)
	token, ok := strings.CutPrefix(url, "https://pay.example/d/receipt/")
	if !ok {
		t.Fatal(url)
	}
	if body, ok := links.Open(Receipt, token); !ok || body != id.Body(paymentID) {
		t.Errorf("%s, %v", body, ok)
	}
	if _, ok := links.Open(CreditNote, token); ok {
		t.Error("the address of a receipt opens a credit note")
	}
	if _, ok := links.Open("poem", strings.TrimPrefix(links.URL("poem", paymentID), "https://pay.example/d/poem/")); ok {
		t.Error("an unknown kind is opened")
	}
	if _, ok := (Links{Keys: secret.Fixed([]byte(strings.Repeat("o", 32)))}).Open(Receipt, token); ok {
		t.Error("another key opens it")
	}
}

func TestEveryKindHasItsSeries(t *testing.T) {
	t.Parallel()
	for kind, series := range map[Kind]Series{Receipt: "R", Invoice: "I", CreditNote: "C", PayoutStatement: ""} {
		if kind.Series() != series || !kind.Known() {
			t.Errorf("%s: %q", kind, kind.Series())
		}
	}
}
