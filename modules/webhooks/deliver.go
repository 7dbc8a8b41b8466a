package webhooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sundry/core/apiformat"
	"sundry/core/event"
	"sundry/core/webhook"
	"sundry/ports"
)

// subjectOf names a delivery's task: the endpoint first, so that one endpoint's tasks stand together.
func subjectOf(d webhook.DeliveryState) string { return d.EndpointID + "/" + d.ID }

// ConcurrencyKey returns the concurrency key of a delivery's task: its endpoint.
func ConcurrencyKey(subject string) string {
	endpointID, _, _ := strings.Cut(subject, "/")
	return endpointID
}

// attempt holds what one delivery attempt needs.
type attempt struct {
	delivery webhook.DeliveryState
	endpoint webhook.EndpointState
	event    event.Record
	now      time.Time // of the account, when it begins
	probe    bool      // it tries a half-open circuit
}

// Deliver makes one attempt to send an event to an endpoint, and returns when the next is due. What was sent and
// could not be recorded is sent again, under the same webhook-id. Task TaskDeliver.
func (s *Service) Deliver(ctx context.Context, t ports.Task) error {
	a, ok, err := s.load(ctx, t)
	if err != nil {
		return fmt.Errorf("deliver: %w", err)
	}
	if !ok {
		return ports.EndTask(ctx, s.deps.Store, t)
	}
	if admitted, err := s.checkCircuit(ctx, t, &a); err != nil || !admitted {
		return err
	}
	tried, response, err := s.try(ctx, a)
	if err != nil {
		return fmt.Errorf("deliver %s: %w", a.delivery.ID, err)
	}
	return s.recordAttempt(ctx, t, a, tried, webhook.RetryAfter(response.RetryAfter, s.deps.Clock.Real()))
}

// load reads the delivery of a task; ok is false when nothing is left to send.
func (s *Service) load(ctx context.Context, t ports.Task) (a attempt, ok bool, err error) {
	_, deliveryID, _ := strings.Cut(t.Subject, "/")
	due, err := s.deps.Deliveries.GetDue(ctx, t.CreatorID, deliveryID)
	if errors.Is(err, ports.ErrNotFound) {
		return a, false, nil // the endpoint was deleted
	}
	if err != nil || due.Delivery.Status != webhook.Pending || !due.Endpoint.Enabled {
		return a, false, err
	}
	now := s.deps.Clock.Real().Add(due.ClockOffset)
	if ports.AdvanceOf(ctx) != nil && now.Before(t.DueAt) {
		now = t.DueAt // several of about one time run together
	}
	return attempt{delivery: due.Delivery, endpoint: due.Endpoint, event: webhook.WithLinks(due.Event, s.cfg.Invoices),
		now: now}, true, nil
}

// checkCircuit asks the endpoint's circuit breaker. A delivery that must wait is postponed and not
// counted, and the others of the endpoint wait with it.
func (s *Service) checkCircuit(ctx context.Context, t ports.Task, a *attempt) (bool, error) {
	wait, probe := webhook.RestoreEndpoint(a.endpoint).Admit(a.now)
	switch {
	case probe:
		return s.claimProbe(ctx, t, a)
	case !wait.IsZero():
		return false, s.awaitCircuit(ctx, t, a.now)
	}
	return true, nil
}

// awaitCircuit postpones a delivery and the others of its endpoint to the end of the wait. The endpoint is locked
// until that is written: a pause of one that has recovered meanwhile would stay, and hold it to one message at a time.
func (s *Service) awaitCircuit(ctx context.Context, t ports.Task, now time.Time) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		endpointID := ConcurrencyKey(t.Subject)
		latest, err := r.Webhooks.Endpoints.GetForShare(ctx, t.CreatorID, endpointID)
		if errors.Is(err, ports.ErrNotFound) {
			return r.Tasks.Done(ctx, t)
		}
		if err != nil {
			return err
		}
		if !latest.Enabled || !now.Before(latest.OpenUntil) {
			return r.Tasks.Postpone(ctx, t, now)
		}
		if err := r.Tasks.PauseKey(ctx, endpointID, t.CreatorID, latest.OpenUntil); err != nil {
			return err
		}
		return r.Tasks.Postpone(ctx, t, latest.OpenUntil.Add(s.jitter(time.Second)))
	})
}

// claimProbe makes this attempt the one that tries a half-open circuit. Of many workers the first does; the others
// wait.
func (s *Service) claimProbe(ctx context.Context, t ports.Task, a *attempt) (claimed bool, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		latest, err := r.Webhooks.Endpoints.Get(ctx, t.CreatorID, a.endpoint.ID)
		if err != nil {
			return err
		}
		endpoint := webhook.RestoreEndpoint(latest)
		if _, claimed = endpoint.Admit(a.now); !claimed {
			return r.Tasks.Postpone(ctx, t, a.now.Add(time.Second))
		}
		a.endpoint, a.probe = endpoint.State(), true
		return r.Webhooks.Endpoints.Update(ctx, a.endpoint)
	})
	return claimed, err
}

// jitter is a random wait below the ceiling.
func (s *Service) jitter(ceiling time.Duration) time.Duration {
	return time.Duration(s.chance() * float64(ceiling))
}

// chance is a random number in [0, 1).
func (s *Service) chance() float64 {
	b := s.deps.IDs.Random(2)
	return float64(uint16(b[0])<<8|uint16(b[1])) / (1 << 16)
}

// try signs with the secrets that are good now and sends.
func (s *Service) try(ctx context.Context, a attempt) (webhook.Attempt, ports.OutboundResponse, error) {
	secrets, err := s.signingSecrets(a.endpoint, a.now)
	if err != nil {
		return webhook.Attempt{}, ports.OutboundResponse{}, err
	}
	body, err := apiformat.JSON(a.event.Envelope())
	if err != nil {
		return webhook.Attempt{}, ports.OutboundResponse{}, err
	}
	begin := s.deps.Clock.Real()
	response, sendErr := s.send(ctx, a.endpoint.ID, ports.OutboundRequest{
		URL: a.endpoint.URL, Body: body,
		Headers: webhook.Headers(a.event.ID, begin, body, secrets...), // receivers compare with their real clock
	})
	tried := webhook.Attempt{
		At: a.now, StatusCode: response.StatusCode, Duration: s.deps.Clock.Real().Sub(begin), ResponseBody: response.Body,
	}
	if sendErr != nil {
		tried.StatusCode, tried.Error = 0, sendErr.Error()
	}
	return tried, response, nil
}

// errGivenUp is the outcome of attempts that an advance of the clock does not make.
var errGivenUp = errors.New("not sent: the endpoint failed twice in a row during this advance of the clock")

// send sends at once or, inside an advance of the clock, as long as the endpoint has not failed there too often.
func (s *Service) send(
	ctx context.Context, endpointID string, r ports.OutboundRequest,
) (ports.OutboundResponse, error) {
	advance := ports.AdvanceOf(ctx)
	if advance == nil {
		return s.deps.Sender.Send(ctx, r)
	}
	if advance.GivenUp(endpointID) {
		return ports.OutboundResponse{}, errGivenUp
	}
	ctx, cancel := context.WithTimeout(ctx, ports.AdvanceAttemptTimeout)
	defer cancel()
	response, err := s.deps.Sender.Send(ctx, r)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("no response within %s, which is all that an advance of the clock waits",
			ports.AdvanceAttemptTimeout)
	}
	advance.Tried(endpointID, err == nil && response.StatusCode >= 200 && response.StatusCode < 300)
	return response, err
}

func (s *Service) signingSecrets(e webhook.EndpointState, now time.Time) ([][]byte, error) {
	encrypted := [][]byte{e.Secret}
	if len(e.PreviousSecret) > 0 && now.Before(e.PreviousUntil) {
		encrypted = append(encrypted, e.PreviousSecret)
	}
	secrets := make([][]byte, len(encrypted))
	for i, one := range encrypted {
		plain, err := s.deps.Encrypter.Decrypt(one)
		if err != nil {
			return nil, fmt.Errorf("open the secret of %s: %w", e.ID, err)
		}
		secrets[i] = plain
	}
	return secrets, nil
}

// recordAttempt records the attempt, its effect on the endpoint, and the next attempt. An attempt whose task was
// claimed or made due again meanwhile is logged alone: what follows is decided by the run that has the task.
func (s *Service) recordAttempt(
	ctx context.Context, t ports.Task, a attempt, tried webhook.Attempt, asked time.Duration,
) error {
	ctx, jitter := context.WithoutCancel(ctx), s.chance()
	err := ports.ErrFenced
	// as nearly all are
	if well := a.endpoint.Failures == 0 && a.endpoint.OpenUntil.IsZero(); well && tried.Succeeded() {
		delivery := webhook.RestoreDelivery(a.delivery)
		delivery.Record(tried, asked, jitter)
		tried.Number = delivery.State().AttemptCount
		err = s.deps.Deliveries.RecordDelivered(ctx, t, delivery.State(), tried)
	}
	if errors.Is(err, ports.ErrFenced) { // or logging an earlier attempt has changed the delivery
		err = s.recordLatest(ctx, t, a, tried, asked, jitter)
	}
	if errors.Is(err, ports.ErrFenced) {
		return errors.Join(err, s.logAttempt(ctx, t, a, tried))
	}
	return err
}

// recordLatest records an attempt of a delivery as it is now.
func (s *Service) recordLatest(
	ctx context.Context, t ports.Task, a attempt, tried webhook.Attempt, asked time.Duration, jitter float64,
) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		latest, err := r.Webhooks.Deliveries.Get(ctx, t.CreatorID, a.delivery.ID)
		if err != nil {
			return err
		}
		delivery := webhook.RestoreDelivery(latest)
		success := delivery.Record(tried, asked, jitter)
		if err := finish(ctx, r, t, delivery.State()); err != nil {
			return err
		}
		if err := s.updateHealth(ctx, r, a, success, tried); err != nil {
			return err
		}
		return saveAttempt(ctx, r, delivery.State(), tried)
	})
}

// finish makes the next attempt of a delivery due, or ends its task.
func finish(ctx context.Context, r ports.Repos, t ports.Task, d webhook.DeliveryState) error {
	if d.NextAttemptAt.IsZero() {
		return r.Tasks.Done(ctx, t)
	}
	return r.Tasks.Postpone(ctx, t, d.NextAttemptAt)
}

// logAttempt logs an attempt that decides nothing.
func (s *Service) logAttempt(ctx context.Context, t ports.Task, a attempt, tried webhook.Attempt) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		latest, err := r.Webhooks.Deliveries.Get(ctx, t.CreatorID, a.delivery.ID)
		if err != nil {
			return err
		}
		delivery := webhook.RestoreDelivery(latest)
		delivery.Log()
		return saveAttempt(ctx, r, delivery.State(), tried)
	})
}

// saveAttempt writes a delivery and its latest attempt.
func saveAttempt(ctx context.Context, r ports.Repos, d webhook.DeliveryState, tried webhook.Attempt) error {
	tried.Number = d.AttemptCount
	if err := r.Webhooks.Deliveries.Update(ctx, d); err != nil {
		return err
	}
	return r.Webhooks.Deliveries.InsertAttempt(ctx, d.CreatorID, d.ID, tried)
}

// updateHealth takes an attempt into the endpoint's health.
func (s *Service) updateHealth(
	ctx context.Context, r ports.Repos, a attempt, success bool, tried webhook.Attempt,
) error {
	seen := a.endpoint
	latest, err := r.Webhooks.Endpoints.Get(ctx, seen.CreatorID, seen.ID)
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if latest.URL != seen.URL {
		return nil // it means nothing for the address that has come since
	}
	endpoint := webhook.RestoreEndpoint(latest)
	var disabled *webhook.Disabled
	changed := true
	if success {
		changed = endpoint.Succeeded()
	} else {
		disabled = endpoint.Failed(tried.Gone(), a.probe, tried.End())
	}
	if !changed {
		return nil
	}
	if err := r.Webhooks.Endpoints.Update(ctx, endpoint.State()); err != nil {
		return err
	}
	if err := s.hold(ctx, r, latest, endpoint.State()); err != nil || disabled == nil {
		return err
	}
	if err := s.publish(ctx, r, seen.CreatorID, event.WebhookEndpointDisabled, map[string]any{
		"id": seen.ID, "url": seen.URL, "reason": disabled.DisabledReason,
	}); err != nil {
		return err
	}
	return s.deps.Bus.Publish(ctx, r, *disabled)
}

// hold keeps the endpoint's tasks back for as long as its circuit is open, so that a backlog costs nothing meanwhile.
// Once it is disabled they are let go, to end.
func (s *Service) hold(ctx context.Context, r ports.Repos, before, after webhook.EndpointState) error {
	switch {
	case after.Enabled && !after.OpenUntil.IsZero():
		return r.Tasks.PauseKey(ctx, after.ID, after.CreatorID, after.OpenUntil)
	case !before.OpenUntil.IsZero():
		return r.Tasks.ResumeKey(ctx, after.ID)
	}
	return nil
}
