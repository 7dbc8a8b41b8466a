package usage

import (
	"context"

	"sundry/core/id"
	"sundry/core/usage"
	"sundry/ports"
)

// CreateAlert subscribes to usage.threshold_reached. VALIDATION_FAILED, NOT_FOUND for the objects that it names.
func (s *Service) CreateAlert(ctx context.Context, creatorID string, draft usage.AlertDraft) (usage.Alert, error) {
	a, err := draft.Parse()
	if err != nil {
		return usage.Alert{}, err
	}
	a.ID, a.CreatorID = s.deps.IDs.New(id.UsageAlert), creatorID
	return a, s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		if _, _, err = s.measured(ctx, r, creatorID, a.SubscriptionID, a.MeterID); err != nil {
			return err
		}
		if a.CreatedAt, err = r.Clock.Now(ctx, creatorID); err != nil {
			return err
		}
		return r.Usage.Alerts.Insert(ctx, a)
	})
}

// Alert loads an alert. NOT_FOUND.
func (s *Service) Alert(ctx context.Context, creatorID, alertID string) (usage.Alert, error) {
	a, err := s.deps.Store.Read(ctx).Usage.Alerts.Get(ctx, creatorID, alertID)
	return a, ports.Missing(err, "usage alert")
}

// Alerts lists the account's alerts.
func (s *Service) Alerts(ctx context.Context, creatorID string, page ports.Page) (ports.List[usage.Alert], error) {
	return s.deps.Store.Read(ctx).Usage.Alerts.List(ctx, creatorID, page)
}

// DeleteAlert ends an alert and returns it. NOT_FOUND.
func (s *Service) DeleteAlert(ctx context.Context, creatorID, alertID string) (a usage.Alert, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		if a, err = r.Usage.Alerts.Get(ctx, creatorID, alertID); err == nil {
			err = r.Usage.Alerts.Delete(ctx, creatorID, alertID)
		}
		return ports.Missing(err, "usage alert")
	})
	return a, err
}
