package file

import (
	"strconv"
	"strings"
)

// Range is a part of a file's bytes: from First to Last, both included.
type Range struct{ First, Last int64 }

// Len returns the number of bytes.
func (r Range) Len() int64 { return r.Last - r.First + 1 }

// ParseRange reads the header Range of a request for a file of the given size (RFC 9110, 14.2). partial is false where
// the whole file is the response: without the header, for several ranges, and for what is no range of bytes. ok is
// false for a range that the file does not have.
func ParseRange(header string, size int64) (r Range, partial, ok bool) {
	whole := Range{0, size - 1}
	spec, isBytes := strings.CutPrefix(header, "bytes=")
	first, last, isRange := strings.Cut(spec, "-")
	if !isBytes || !isRange || strings.Contains(spec, ",") {
		return whole, false, true
	}
	if first == "" { // the last so many
		n, err := strconv.ParseUint(last, 10, 62)
		if err != nil {
			return whole, false, true
		}
		return Range{max(0, size-int64(n)), size - 1}, true, n > 0 && size > 0
	}
	from, err := strconv.ParseUint(first, 10, 62)
	if err != nil {
		return whole, false, true
	}
	r = Range{int64(from), size - 1}
	if last != "" {
		to, err := strconv.ParseUint(last, 10, 62)
		if err != nil || to < from {
			return whole, false, true
		}
		r.Last = min(int64(to), size-1)
	}
	return r, true, r.First < size
}
