package access

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"sundry/adapters/gormstore/repo"
	"sundry/core/access"
	"sundry/core/plan"
	"sundry/ports"
)

type grantRow struct {
	repo.Revised
	CreatorID          string
	ExternalCustomerID string
	Source             access.Source
	SourceID           string
	CheckoutID         string
	Plan               repo.SharedJSON[*access.Plan]
	Entitlements       repo.SharedJSON[[]plan.Entitlement]
	Credits            repo.JSONColumn[[]access.CreditBlock]
	Note               string
	StartedAt          repo.UnixMillis
	ExpiresAt          repo.UnixMillis
	EndedAt            repo.UnixMillis
	EndReason          access.EndReason
}

// TableName implements gorm's tabler.
func (grantRow) TableName() string { return "grants" }

func newGrantRow(g *access.Grant) grantRow {
	s := g.State()
	return grantRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, ExternalCustomerID: s.ExternalCustomerID, Source: s.Source, SourceID: s.SourceID,
		CheckoutID: s.CheckoutID, Plan: repo.Shared(s.Plan), Entitlements: repo.Shared(s.Entitlements),
		Credits: repo.JSON(s.Credits), Note: s.Note, StartedAt: repo.UnixMillis(s.StartedAt),
		ExpiresAt: repo.UnixMillis(s.ExpiresAt),
		EndedAt:   repo.UnixMillis(s.EndedAt), EndReason: s.EndReason,
	}
}

func (r grantRow) toState() *access.Grant {
	return access.Restore(access.State{
		ID: r.ID, CreatorID: r.CreatorID, ExternalCustomerID: r.ExternalCustomerID, Source: r.Source, SourceID: r.SourceID,
		CheckoutID: r.CheckoutID, Plan: r.Plan.V, Entitlements: r.Entitlements.V, Credits: r.Credits.V, Note: r.Note,
		StartedAt: time.Time(r.StartedAt), ExpiresAt: time.Time(r.ExpiresAt), EndedAt: time.Time(r.EndedAt),
		EndReason: r.EndReason,
		Revision:  r.Revision,
	})
}

var grantMapping = repo.Mapping[grantRow, *access.Grant]{
	Name: "grant", NewRow: newGrantRow, ToState: grantRow.toState,
}

type grants struct {
	repo.Table[grantRow, *access.Grant]
}

// GetBySource implements ports.Grants.
func (t grants) GetBySource(_ context.Context, creatorID string, source access.Source,
	sourceID string) (*access.Grant, error) {
	return t.GetBy("get grant of "+sourceID, "creator_id = ? AND source = ? AND source_id = ?", creatorID, source,
		sourceID)
}

func (t grants) rows(op string, query *gorm.DB) ([]grantRow, error) {
	return repo.ListBy(t.Base, op, query, func(r grantRow) grantRow { return r })
}

// ListByCheckout implements ports.Grants.
func (t grants) ListByCheckout(_ context.Context, creatorID, checkoutID string) ([]*access.Grant, error) {
	return t.ListBy("list grants of "+checkoutID, t.DB.Where("creator_id = ? AND checkout_id = ?", creatorID,
		checkoutID).Order("id"))
}

// ListActive implements ports.Grants.
func (t grants) ListActive(_ context.Context, creatorID, externalCustomerID string) ([]*access.Grant, error) {
	rows, err := cachedGrants.Get(t.Base, creatorID+"/"+externalCustomerID, func() ([]grantRow, error) {
		return t.rows("list active grants", t.DB.Where(ofCustomer+" AND end_reason = ''", creatorID,
			externalCustomerID).Order("id"))
	})
	found := make([]*access.Grant, len(rows))
	for i, row := range rows {
		found[i] = row.toState()
	}
	return found, err
}

// cachedGrants are the active grants of a customer.
var cachedGrants = repo.NewSlot[[]grantRow]("grants")

// PreloadGrants reads the active grants of a customer.
func PreloadGrants(b *repo.Base, creatorID, externalCustomerID string) {
	query := repo.WithColumns[grantRow](b, "SELECT * FROM grants WHERE "+ofCustomer+" AND end_reason = '' ORDER BY id")
	cachedGrants.Preload(b, "list active grants", query,
		[]any{creatorID, externalCustomerID}, func(rows pgx.Rows, keep func(string, []grantRow)) error {
			found, err := repo.CollectRows[grantRow](b, rows)
			keep(creatorID+"/"+externalCustomerID, found)
			return err
		})
}

// ListEnded implements ports.Grants.
func (t grants) ListEnded(_ context.Context, creatorID, externalCustomerID string, limit int) ([]*access.Grant, error) {
	query := t.DB.Where(ofCustomer+" AND end_reason <> ''", creatorID, externalCustomerID)
	return t.ListBy("list ended grants", query.Order("ended_at DESC, id DESC").Limit(limit))
}

// List implements ports.Grants. It reads a page by the index of sources.
func (t grants) List(_ context.Context, creatorID string, page ports.Page) (ports.List[*access.Grant], error) {
	query := t.DB.Where("creator_id = ?", creatorID)
	if page.After.ID != "" {
		query = query.Where("(source, source_id) < (?, ?)", page.After.Text, page.After.ID)
	}
	rows, err := t.rows("list grants of "+creatorID, query.Order("source DESC, source_id DESC").Limit(page.Limit+1))
	return repo.Paged(rows, page.Limit, grantRow.toState, func(r grantRow) ports.Cursor {
		return ports.Cursor{Text: string(r.Source), ID: r.SourceID}
	}), err
}
