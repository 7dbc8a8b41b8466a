package id_test

import (
	"testing"

	"pgregory.net/rapid"

	"sundry/core/id"
)

func TestAnIDNamesItsCell(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cell := id.Cell(rapid.Uint16Range(0, uint16(id.MaxCell)).Draw(t, "cell"))
		before := body(t, "body")
		after := before
		cell.Mark(after[6:])
		made := id.New(id.Payment, after)
		if got, ok := id.CellOf(made); !ok || got != cell {
			t.Fatalf("%s is of cell %d, %t; want %d", made, got, ok, cell)
		}
		plain := id.Body(id.New(id.Payment, before))
		if marked := id.Body(made); marked[:10] != plain[:10] || marked[12:] != plain[12:] {
			t.Fatalf("cell %d makes %s of %s: more than characters 11 and 12 differ", cell, marked, plain)
		}
	})
}

func TestTheCellIsCharacters11And12(t *testing.T) {
	t.Parallel()
	for want, text := range map[id.Cell]string{
		0: "pay_01hzzzzzzz00zzzzzzzzzzzzzz", 1: "pay_01hzzzzzzz01zzzzzzzzzzzzzz", 32: "pay_01hzzzzzzz10zzzzzzzzzzzzzz",
		1023: "pay_01hzzzzzzzzz00000000000000",
	} {
		if tag := want.Tag(); tag != text[len("pay_")+10:][:2] {
			t.Errorf("the tag of cell %d is %s, want that of %s", want, tag, text)
		}
		if got, ok := id.CellOf(text); !ok || got != want {
			t.Errorf("%s is of cell %d, %t; want %d", text, got, ok, want)
		}
	}
	if got, ok := id.CellOf("pay_01hzzzzzzz0"); ok || got != 0 {
		t.Errorf("what is no id is of cell %d, %t", got, ok)
	}
}
