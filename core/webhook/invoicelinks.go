package webhook

import (
	"bytes"
	"encoding/json"
	"strings"

	"sundry/core/event"
	"sundry/core/invoice"
)

// Members of an invoice's data as they are stored. No text in the data can hold them: its quotes are escaped.
var (
	noPage = []byte(`"hostedUrl":""`)
	noPDF  = []byte(`"pdfUrl":""`)
)

// WithLinks returns an event as it is sent and shown: the addresses of an invoice, which open it, are not stored with
// its events.
func WithLinks(r event.Record, pages invoice.Pages) event.Record {
	if !strings.HasPrefix(string(r.Type), "invoice.") {
		return r
	}
	var data struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(r.Data, &data); err != nil || data.ID == "" {
		return r
	}
	links := pages.Links(data.ID)
	r.Data = bytes.Replace(r.Data, noPage, []byte(`"hostedUrl":"`+links.Page+`"`), 1)
	r.Data = bytes.Replace(r.Data, noPDF, []byte(`"pdfUrl":"`+links.PDF+`"`), 1)
	return r
}
