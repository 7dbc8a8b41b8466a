package system

import "sundry/core/id"

// NextAfter returns the value that follows one, zero where a random step leads past the last of its millisecond.
func NextAfter(last [16]byte, cell id.Cell) (body [16]byte) {
	g := NewCellIDs(cell)
	g.last = last
	var millis int64
	for _, b := range last[:6] {
		millis = millis<<8 | int64(b)
	}
	return g.next(millis)
}
