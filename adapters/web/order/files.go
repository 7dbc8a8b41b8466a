package order

import (
	"sundry/core/file"
	"sundry/core/locale"
)

// FileLink is a file that the buyer can download.
type FileLink struct{ Name, Size, URL string }

// FileLinks returns the files of a purchase behind its receipt's address.
func FileLinks(reader locale.Locale, receiptURL string, all []file.State) (links []FileLink) {
	for _, f := range all {
		links = append(links, FileLink{Name: f.Name, Size: reader.Size(f.Size), URL: receiptURL + "/files/" + f.ID})
	}
	return links
}
