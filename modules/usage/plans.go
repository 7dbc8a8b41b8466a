package usage

import (
	"context"
	"errors"
	"time"

	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/period"
	"sundry/core/subscription"
	"sundry/core/usage"
	"sundry/ports"
)

// CreateBillingPlan creates a plan that bills a subscription's use of a meter from its present period on.
// VALIDATION_FAILED, NOT_FOUND for the objects that it names, STATE_CONFLICT for a subscription that has ended or has
// a plan for the meter.
func (s *Service) CreateBillingPlan(
	ctx context.Context, creatorID string, draft usage.PlanDraft,
) (usage.PlanState, error) {
	interval, err := draft.Parse()
	if err != nil {
		return usage.PlanState{}, err
	}
	var made usage.PlanState
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		sub, meter, err := s.measured(ctx, r, creatorID, draft.SubscriptionID, draft.MeterID)
		if err != nil {
			return err
		}
		if err := checkPrice(ctx, r, sub, meter, draft.PriceID); err != nil {
			return err
		}
		if !sub.EndedAt.IsZero() {
			return fault.New(fault.StateConflict, "The subscription has ended.")
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		made = usage.NewBillingPlan(usage.PlanState{
			ID: s.deps.IDs.New(id.BillingPlan), CreatorID: creatorID, CustomerID: sub.CustomerID,
			ExternalCustomerID: sub.ExternalCustomerID,
			SubscriptionID:     sub.ID, MeterID: meter.ID, PriceID: draft.PriceID,
			Schedule: planSchedule(sub, interval, now), FreeUntil: sub.TrialEndsAt,
		}, now).State()
		if err := r.Usage.Plans.Insert(ctx, made); err != nil {
			return err
		}
		if err := s.bill(ctx, r, sub, meter, made); err != nil {
			return err
		}
		err = s.publishCounted(ctx, r, creatorID, customer.AccessKey(sub.ExternalCustomerID, sub.CustomerID))
		if err != nil {
			return err
		}
		if err := r.Tasks.Schedule(ctx, TaskClose, made.ID, creatorID, made.NextInvoiceAt()); err != nil {
			return err
		}
		return s.auditPlan(ctx, r, identity.BillingPlanCreated, made, meter.EventName)
	})
	if errors.Is(err, ports.ErrDuplicate) {
		return usage.PlanState{}, fault.New(fault.StateConflict, "The subscription has a billing plan for this meter.")
	}
	return made, err
}

// auditPlan records what was decided about a billing plan, with the event name of its meter.
func (s *Service) auditPlan(
	ctx context.Context, r ports.Repos, kind identity.AccountEventKind, p usage.PlanState, eventName string,
) error {
	return ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
		CreatorID: p.CreatorID, Kind: kind, ObjectID: p.ID, Note: eventName,
	})
}

// checkPrice refuses a price that cannot bill a subscription's use of a meter. VALIDATION_FAILED, NOT_FOUND.
func checkPrice(
	ctx context.Context, r ports.Repos, sub subscription.State, meter usage.Meter, priceID string,
) error {
	price, err := r.Usage.Catalog.GetPrice(ctx, sub.CreatorID, priceID)
	if err != nil {
		return ports.Missing(err, "usage price")
	}
	if want := sub.Offer.Price.Currency; price.Currency != want {
		return fault.Invalid(fault.Detail{
			Field: "priceId", Code: fault.DetailNotAllowed,
			Message: "Expected a price in " + string(want) + ", the currency of the subscription.",
		})
	}
	return price.CheckMeter(meter)
}

// ChangePrice has the periods of a plan after the current one billed by another price. VALIDATION_FAILED, NOT_FOUND,
// STATE_CONFLICT for a plan that ends.
func (s *Service) ChangePrice(
	ctx context.Context, creatorID, planID string, change usage.PriceChange,
) (usage.PlanState, error) {
	if err := change.Check(); err != nil {
		return usage.PlanState{}, err
	}
	return s.updatePlan(ctx, creatorID, planID, func(ctx context.Context, r ports.Repos, p *usage.BillingPlan) error {
		sub, meter, err := s.measured(ctx, r, creatorID, p.State().SubscriptionID, p.State().MeterID)
		if err != nil {
			return err
		}
		if err := checkPrice(ctx, r, sub, meter, change.PriceID); err != nil {
			return err
		}
		before := p.State().NextPriceID
		if err := p.ChangePrice(change.PriceID); err != nil || p.State().NextPriceID == before {
			return err
		}
		return s.auditPlan(ctx, r, identity.BillingPlanChanged, p.State(), meter.EventName)
	})
}

// EndBillingPlan makes the running period of a plan the last: later use is refused. NOT_FOUND, STATE_CONFLICT for a
// plan that ends already.
func (s *Service) EndBillingPlan(ctx context.Context, creatorID, planID string) (usage.PlanState, error) {
	return s.updatePlan(ctx, creatorID, planID, func(ctx context.Context, r ports.Repos, p *usage.BillingPlan) error {
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		if err := p.EndWithPeriod(now); err != nil {
			return err
		}
		if err := r.Usage.Streams.LockIntake(ctx); err != nil {
			return err
		}
		stream, err := s.streamOf(ctx, r, p.State())
		if err != nil {
			return err
		}
		if err := endStream(ctx, r, stream, p.State().Schedule.EndsAt); err != nil {
			return err
		}
		if err := s.publishCountsChanged(ctx, r, stream); err != nil {
			return err
		}
		return s.auditPlan(ctx, r, identity.BillingPlanEnded, p.State(), stream.EventName)
	})
}

// updatePlan changes a plan in one transaction. NOT_FOUND.
func (s *Service) updatePlan(
	ctx context.Context, creatorID, planID string,
	change func(ctx context.Context, r ports.Repos, p *usage.BillingPlan) error,
) (changed usage.PlanState, err error) {
	return changed, s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		state, err := r.Usage.Plans.Get(ctx, creatorID, planID)
		if err != nil {
			return ports.Missing(err, "billing plan")
		}
		p := usage.RestoreBillingPlan(state)
		if err := change(ctx, r, p); err != nil {
			return err
		}
		changed = p.State()
		return r.Usage.Plans.Update(ctx, changed)
	})
}

// streamOf loads the stream that a plan bills.
func (s *Service) streamOf(ctx context.Context, r ports.Repos, p usage.PlanState) (ports.UsageStream, error) {
	meter, err := r.Usage.Catalog.GetMeter(ctx, p.CreatorID, p.MeterID)
	if err != nil {
		return ports.UsageStream{}, err
	}
	return r.Usage.Streams.Get(ctx, p.CreatorID, p.SubscriptionID, meter.EventName)
}

// measured locks the subscription and loads the meter that a request names. NOT_FOUND.
func (s *Service) measured(
	ctx context.Context, r ports.Repos, creatorID, subscriptionID, meterID string,
) (subscription.State, usage.Meter, error) {
	sub, err := subscriptionBy(ctx, r.Subscriptions.Subscriptions.GetForUpdate, creatorID, subscriptionID)
	if err != nil {
		return sub, usage.Meter{}, err
	}
	meter, err := r.Usage.Catalog.GetMeter(ctx, creatorID, meterID)
	return sub, meter, ports.Missing(err, "meter")
}

// subscription loads a subscription of the account. NOT_FOUND, STATE_CONFLICT before its first payment or trial.
func (s *Service) subscription(
	ctx context.Context, r ports.Repos, creatorID, subscriptionID string,
) (subscription.State, error) {
	return subscriptionBy(ctx, r.Subscriptions.Subscriptions.Get, creatorID, subscriptionID)
}

// subscriptionBy is subscription with the read to use: where something is made that counts or bills its use, one that
// locks it, so that the end or the change of plan of a subscription finds all that is made of it.
func subscriptionBy(
	ctx context.Context, get func(ctx context.Context, id string) (subscription.State, error),
	creatorID, subscriptionID string,
) (subscription.State, error) {
	sub, err := get(ctx, subscriptionID)
	if err == nil && sub.CreatorID != creatorID {
		err = ports.ErrNotFound
	}
	if err == nil && sub.Anchor.IsZero() {
		return sub, fault.New(fault.StateConflict, "The subscription has not begun yet.")
	}
	return sub, ports.Missing(err, "subscription")
}

// planSchedule has the subscription's anchor. Its first period is the one that now lies in, as far as the subscription
// ran then.
func planSchedule(sub subscription.State, interval period.Interval, now time.Time) usage.Schedule {
	schedule := usage.Schedule{Anchor: sub.Anchor, Interval: interval, Count: 1, StartsAt: sub.StartedAt}
	schedule.StartsAt = schedule.At(now).Start
	return schedule
}

// bill has the use of a meter counted by the plan's periods from its first one on.
func (s *Service) bill(
	ctx context.Context, r ports.Repos, sub subscription.State, meter usage.Meter, p usage.PlanState,
) error {
	if err := r.Usage.Streams.LockIntake(ctx); err != nil {
		return err
	}
	stream, err := r.Usage.Streams.Get(ctx, p.CreatorID, sub.ID, meter.EventName)
	if errors.Is(err, ports.ErrNotFound) {
		stream = s.newStream(sub, meter)
		stream.Schedule, stream.PlanID = p.Schedule, p.ID
		return r.Usage.Streams.Insert(ctx, stream)
	}
	if err != nil {
		return err
	}
	before := stream.Schedule
	stream.Schedule, stream.PlanID = p.Schedule, p.ID
	stream.Version++
	if err := r.Usage.Streams.Update(ctx, stream); err != nil {
		return err
	}
	if before.At(p.Current.Start) == p.Current {
		return nil // what was counted so far is counted by these periods
	}
	if err := r.Usage.Rollups.Lock(ctx); err != nil {
		return err
	}
	return r.Usage.Streams.Recount(ctx, stream, p.Current.Start)
}

// BillingPlan loads a plan. NOT_FOUND.
func (s *Service) BillingPlan(ctx context.Context, creatorID, planID string) (usage.PlanState, error) {
	p, err := s.deps.Store.Read(ctx).Usage.Plans.Get(ctx, creatorID, planID)
	return p, ports.Missing(err, "billing plan")
}

// BillingPlans lists the account's plans, of one subscription unless that is "".
func (s *Service) BillingPlans(
	ctx context.Context, creatorID, subscriptionID string, page ports.Page,
) (ports.List[usage.PlanState], error) {
	return s.deps.Store.Read(ctx).Usage.Plans.List(ctx, creatorID, subscriptionID, page)
}

// OnSubscriptionCanceled ends the subscription's plans.
func (s *Service) OnSubscriptionCanceled(ctx context.Context, r ports.Repos, e subscription.Canceled) error {
	return s.endPlans(ctx, r, e.State)
}

// OnSubscriptionExpired ends the subscription's plans.
func (s *Service) OnSubscriptionExpired(ctx context.Context, r ports.Repos, e subscription.Expired) error {
	return s.endPlans(ctx, r, e.State)
}

// endPlans makes the current period of an ended subscription's plans the last, and refuses reports of later use.
func (s *Service) endPlans(ctx context.Context, r ports.Repos, e subscription.State) error {
	streams, err := r.Usage.Streams.ListBySubscription(ctx, e.CreatorID, e.ID)
	if err != nil || len(streams) == 0 {
		return err
	}
	if err := r.Usage.Streams.LockIntake(ctx); err != nil {
		return err
	}
	ends := map[string]time.Time{}
	plans, err := r.Usage.Plans.ListBySubscription(ctx, e.CreatorID, e.ID)
	if err != nil {
		return err
	}
	for _, state := range plans {
		p := usage.RestoreBillingPlan(state)
		if !p.End(e.EndedAt) {
			continue
		}
		ended := p.State()
		ends[ended.ID] = ended.Schedule.EndsAt
		if err := r.Usage.Plans.Update(ctx, ended); err != nil {
			return err
		}
		if err := r.Tasks.Schedule(ctx, TaskClose, ended.ID, ended.CreatorID, ended.NextInvoiceAt()); err != nil {
			return err
		}
	}
	for _, stream := range streams {
		at, ok := ends[stream.PlanID]
		switch {
		case ok:
		case stream.Schedule.EndsAt.IsZero():
			at = e.EndedAt
		default: // its plan ends before the subscription
			continue
		}
		if err := endStream(ctx, r, stream, at); err != nil {
			return err
		}
	}
	return s.publishCountsChanged(ctx, r, streams[0])
}

// endStream stores until when reports are taken. Those that were taken before for a later time count in the last
// period: no later one has an invoice.
func endStream(ctx context.Context, r ports.Repos, stream ports.UsageStream, at time.Time) error {
	stream.Schedule.EndsAt = at
	stream.Version++
	last := stream.Schedule.At(at).Start
	ahead, err := r.Usage.Rollups.HasAfter(ctx, stream, last)
	if err == nil && ahead {
		err = r.Usage.Rollups.Lock(ctx)
	}
	if err != nil {
		return err
	}
	if err := r.Usage.Streams.Update(ctx, stream); err != nil || !ahead {
		return err
	}
	return r.Usage.Streams.Recount(ctx, stream, last)
}
