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

// Tag returns the two characters that name the cell in ids and in the codes of payment links.
func (c Cell) Tag() string { return string([]byte{alphabet[c>>5&31], alphabet[c&31]}) }

// TagCell returns the cell of two characters. ok is false when they are no tag.
func TagCell(tag string) (cell Cell, ok bool) {
	if len(tag) != 2 || strings.IndexByte(alphabet, tag[0]) < 0 || strings.IndexByte(alphabet, tag[1]) < 0 {
		return 0, false
	}
	return Cell(digit(tag[0])<<5 | digit(tag[1])), true
}

// CellOf returns the cell in which an id was made. ok is false when s is not an id. Ids that were made before there
// were cells have any number.
func CellOf(s string) (cell Cell, ok bool) {
	body := Body(s)
	if body == "" {
		return 0, false
	}
	return TagCell(body[cellAt : cellAt+2])
}

// digit is the value of a character of the alphabet.
func digit(c byte) uint16 { return uint16(strings.IndexByte(alphabet, c)) } //nolint:gosec // below 32
