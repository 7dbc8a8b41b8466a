package system_test

import (
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/adapters/system"
	"sundry/core/id"
)

func TestIDsNameTheirCellAndRise(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cell := id.Cell(rapid.Uint16Range(0, uint16(id.MaxCell)).Draw(t, "cell"))
		ids := system.NewCellIDs(cell)
		began, last := time.Now().Truncate(time.Millisecond), ""
		for range rapid.IntRange(1, 500).Draw(t, "ids") {
			made := ids.New(id.Payment)
			if got, ok := id.CellOf(made); !ok || got != cell || ids.Cell() != cell {
				t.Fatalf("%s is of cell %d, %t; want %d", made, got, ok, cell)
			}
			if at, ok := id.Time(made); made <= last || !ok || at.Before(began) || at.After(time.Now()) {
				t.Fatalf("%s of %v follows %s", made, at, last)
			}
			last = made
		}
	})
}

func TestIDsOfManyAreDifferent(t *testing.T) {
	t.Parallel()
	const makers, each = 8, 2000
	ids := system.NewCellIDs(id.MaxCell)
	var all sync.Map
	var making sync.WaitGroup
	for range makers {
		making.Go(func() {
			for range each {
				if made := ids.New(id.Event); !id.Valid(id.Event, made) {
					t.Errorf("%s is no id", made)
				} else if _, again := all.LoadOrStore(made, true); again {
					t.Errorf("%s came twice", made)
				}
			}
		})
	}
	making.Wait()
}

func TestAFullMillisecondChangesNoCell(t *testing.T) {
	t.Parallel()
	const cell = id.Cell(37)
	last := [16]byte{0, 1, 2, 3, 4, 5}
	for i := range last[6:] {
		last[6+i] = 0xff
	}
	cell.Mark(last[6:])
	if next := system.NextAfter(last, cell); next != [16]byte{} {
		t.Errorf("%x follows %x", next, last)
	}
	last[8] = 0
	next := system.NextAfter(last, cell)
	if got, _ := id.CellOf(id.New(id.Event, next)); got != cell {
		t.Errorf("%x, which follows %x, is of cell %d", next, last, got)
	}
}
