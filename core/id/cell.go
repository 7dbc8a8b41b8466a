package id

import "strings"

// Cell is the number of a part of the accounts that has a database of its own. A router finds it in what an id, a link
// or a key begins with.
type Cell uint16

// MaxCell is the highest number of a cell: ten bits, which are two characters of an id.
const MaxCell Cell = 1<<cellBits - 1

const (
	cellBits = 10
	// cellAt is the index of the first of the cell's two characters in the body of an id, behind the time.
	cellAt = 10
)

// Mark writes the cell over the first ten bits of random bytes, of which there are at least two.
func (c Cell) Mark(random []byte) {
	random[0] = byte(c >> 2)                //nolint:gosec // ten bits less two are a byte
	random[1] = random[1]&0x3f | byte(c<<6) //nolint:gosec // the two bits that are left
}

// CellOf returns the cell in which an id was made. ok is false when s is not an id. Ids that were made before there
// were cells have any number.
func CellOf(s string) (cell Cell, ok bool) {
	body := Body(s)
	if body == "" {
		return 0, false
	}
	return Cell(digit(body[cellAt])<<5 | digit(body[cellAt+1])), true
}

// digit is the value of a character of the alphabet.
func digit(c byte) uint16 { return uint16(strings.IndexByte(alphabet, c)) } //nolint:gosec // below 32
