package file

import (
	"strconv"
	"time"

	"sundry/core/id"
	"sundry/core/secret"
)

// LinkLifetime bounds a link to a file's bytes: long enough to resume a download that broke.
const LinkLifetime = 2 * time.Hour

const purposeDownload = "download"

// Download names a file that a purchase opens.
type Download struct {
	FileID, CheckoutID string
	Until              time.Time
}

// Path returns the path of the file's bytes until the download's end. Anyone who has it can download the file until
// then.
func (d Download) Path(keys secret.Keys) string {
	until := strconv.FormatInt(d.Until.Unix(), 10)
	return "/f/" + until + "/" + d.CheckoutID + "/" +
		secret.Derive(keys, purposeDownload, d.FileID, d.CheckoutID, until)
}

// ParseDownload parses a path that Path returned. ok is false for anything that was not given out, and after its end.
func ParseDownload(keys secret.Keys, until, checkoutID, token string, now time.Time) (d Download, ok bool) {
	seconds, err := strconv.ParseInt(until, 10, 64)
	if err != nil || now.Unix() > seconds {
		return d, false
	}
	fileID, ok := secret.Verify(keys, purposeDownload, id.File, token, checkoutID, until)
	return Download{FileID: fileID, CheckoutID: checkoutID, Until: time.Unix(seconds, 0)}, ok
}
