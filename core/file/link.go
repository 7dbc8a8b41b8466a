package file

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sundry/core/id"
	"sundry/core/secret"
)

// LinkLifetime is how long a link to a file's bytes opens: long enough to resume a download that broke.
const LinkLifetime = 2 * time.Hour

const purposeDownload = "download"

// Download names a file that a purchase opens.
type Download struct {
	FileID, CheckoutID string
	Until              time.Time
}

// Path is the path of the file's bytes until the download's end. Anyone who has it can download the file until then.
func (d Download) Path(keys secret.Keys) string {
	until := strconv.FormatInt(d.Until.Unix(), 10)
	return "/f/" + until + "/" + d.CheckoutID + "/" +
		secret.Derive(keys, purposeDownload, d.FileID, d.CheckoutID, until)
}

// ParseDownload is the reverse of Path. ok is false for anything that was not given out, and after its end.
func ParseDownload(keys secret.Keys, until, checkoutID, token string, now time.Time) (d Download, ok bool) {
	seconds, err := strconv.ParseInt(until, 10, 64)
	if err != nil || now.Unix() > seconds {
		return d, false
	}
	fileID, ok := secret.Verify(keys, purposeDownload, id.File, token, checkoutID, until)
	return Download{FileID: fileID, CheckoutID: checkoutID, Until: time.Unix(seconds, 0)}, ok
}

func sortByName(all []State) {
	slices.SortFunc(all, func(a, b State) int { return strings.Compare(a.Name, b.Name) })
}

// Range is a part of a file's bytes: from First to Last, both included.
type Range struct{ First, Last int64 }

// Len is the number of bytes.
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
