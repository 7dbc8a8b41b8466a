package ports

import "time"

// Retention limits deletion to rows from before each of its times. Rows that invoices, receipts and the ledger need are
// never deleted.
type Retention struct {
	// Deliveries limits deliveries, with their attempts, of events from before, unless they are pending or were attempted
	// since.
	Deliveries time.Time
	// Events limits events that have no delivery any more.
	Events time.Time
	// Sessions limits expired checkout sessions that nobody tried to pay, with the reservations that they released.
	Sessions time.Time
	// MailBodies limits the content of mails that were sent or refused; the rows of the mails stay.
	MailBodies time.Time
	// Requests are API requests of the log.
	Requests time.Time
	// Images are those that nobody has shown since.
	Images time.Time
	// Usage is reports of use that are counted; their keys stay.
	Usage time.Time
	// Now is the real time, before which other calendars' busy times and spent rates mean nothing.
	Now time.Time
}
