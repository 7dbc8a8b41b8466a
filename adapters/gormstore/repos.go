package gormstore

import (
	"gorm.io/gorm"

	"sundry/adapters/gormstore/access"
	"sundry/adapters/gormstore/booking"
	"sundry/adapters/gormstore/catalog"
	"sundry/adapters/gormstore/checkout"
	"sundry/adapters/gormstore/customers"
	"sundry/adapters/gormstore/identity"
	"sundry/adapters/gormstore/invoicing"
	"sundry/adapters/gormstore/mail"
	"sundry/adapters/gormstore/operator"
	"sundry/adapters/gormstore/payments"
	"sundry/adapters/gormstore/repo"
	"sundry/adapters/gormstore/sandbox"
	"sundry/adapters/gormstore/subscriptions"
	"sundry/adapters/gormstore/treasury"
	"sundry/adapters/gormstore/usage"
	"sundry/adapters/gormstore/webhooks"
	"sundry/ports"
)

// repos binds every repository to one connection.
func (s *Store) repos(db *gorm.DB, scheduled *dueClasses) ports.Repos {
	b := &repo.Base{DB: db, Dialect: s.dialect}
	if tx, ok := current(db.Statement.Context); ok {
		b.AtCommit, b.Since = tx.atCommit.register, tx.since
		if tx.pipeline != nil {
			b.Pipeline, b.Cache = tx.pipeline, tx.pipeline.cache
			b.Preload = s.preloading(b)
		}
	} else if !s.mayBeStale(db.Statement.Context) {
		b.Pool = s.engine.Pool
	}
	offsets := s.clockOffsets(b)
	return ports.Repos{
		Clock: accountClock{offsets: offsets},
		Tasks: tasks{Base: b, clock: offsets, classOf: s.classOf, keyOf: s.keyOf, tracer: s.tracer,
			scheduled: scheduled, writes: &taskWrites{}},
		TaskAdmin:     taskAdmin{Base: b, clock: offsets, scheduled: scheduled, dialect: s.dialect},
		Idempotency:   idempotencyKeys{b},
		Images:        images{b},
		Files:         files{fileMapping.On(b)},
		Imports:       importedObjects{b},
		Identity:      identity.Repositories(b),
		Catalog:       catalog.Repositories(b),
		Checkout:      checkout.Repositories(b),
		Booking:       booking.Repositories(b),
		Payments:      payments.Repositories(b),
		Customers:     customers.Repositories(b),
		Access:        access.Repositories(b),
		Subscriptions: subscriptions.Repositories(b),
		Usage:         usage.Repositories(b),
		Invoicing:     invoicing.Repositories(b),
		Treasury:      treasury.Repositories(b),
		Webhooks:      webhooks.Repositories(b),
		Mail:          mail.Repositories(b),
		Operator:      operator.Repositories(b),
		Sandbox: ports.SandboxRepos{ClockOffsets: offsets, Charges: sandbox.NewCharges(b),
			Disputes: sandbox.NewDisputes(b), Audit: sandbox.NewAudit(b)},
	}
}
