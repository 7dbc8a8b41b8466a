package gormstore

import (
	"gorm.io/gorm"

	"sundry/ports"
)

// table is what every repository needs: the connection of its transaction and the engine's few differences.
type table struct {
	db      *gorm.DB
	dialect dialect
	// pipeline takes the writes that nobody waits for; nil where there is none.
	pipeline *pipeline
}

// repos binds every repository to one connection.
func (s *Store) repos(db *gorm.DB, scheduled *bool) ports.Repos {
	t := table{db: db, dialect: s.dialect}
	if tx, ok := current(db.Statement.Context); ok {
		t.pipeline = tx.pipeline
	}
	return ports.Repos{
		Tasks:            tasks{table: t, classOf: s.classOf, laneOf: s.laneOf, scheduled: scheduled},
		IdempotencyKeys:  idempotencyKeys{t},
		ClockOffsets:     clockOffsets{table: t},
		DocumentNumbers:  documentNumbers{t},
		Sessions:         sessions{t},
		Payments:         payments{t},
		Customers:        customers{t},
		Subscriptions:    subscriptions{t},
		SellingAudit:     sellingAudit{t},
		SandboxCharges:   sandboxCharges{t},
		Listings:         listings{t},
		Plans:            plans{t},
		PaymentLinks:     paymentLinks{t},
		Creators:         creators{t},
		APIKeys:          apiKeys{t},
		RefreshFamilies:  refreshFamilies{t},
		Grants:           grants{t},
		Snapshots:        snapshots{t},
		CreditUses:       creditUses{t},
		Scheduling:       scheduling{t},
		BusyCalendars:    busyCalendars{t},
		Claims:           claims{t},
		Appointments:     appointments{t},
		BookingAudit:     bookingAudit{t},
		Events:           events{t},
		WebhookEndpoints: webhookEndpoints{t},
		Deliveries:       deliveries{t},
		Announcements:    announcements{t},
		Mails:            mails{t},
		WebhookAudit:     webhookAudit{t},
		TaskDesk:         taskDesk{table: t, scheduled: scheduled},
	}
}
