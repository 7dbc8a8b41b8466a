package customers

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/customer"
	"sundry/core/refund"
)

// erasure knows every table that holds something of a person. What the tax laws ask for stays: documents, the ledger,
// and with sales where the buyer was.
type erasure struct{ *repo.Base }

// unpaid are the checkouts that the customer has not paid for, by their name or their address.
const unpaid = `creator_id = @creator AND customer_id = '' AND (external_customer_id = @external
	AND external_customer_id <> '' OR LOWER(email) = @email AND email <> '')`

// obstacle finds the first thing that is open between an account and a customer.
const obstacle = `SELECT CASE
	WHEN EXISTS (SELECT 1 FROM subscriptions WHERE creator_id = @creator AND customer_id = @customer
		AND status NOT IN ('canceled', 'expired')) THEN 'subscription'
	WHEN EXISTS (SELECT 1 FROM payments WHERE customer_id = @customer AND settled_at IS NULL)
		OR EXISTS (SELECT 1 FROM sessions WHERE ` + unpaid + ` AND live_payment_id <> '') THEN 'payment'
	WHEN EXISTS (SELECT 1 FROM invoices WHERE creator_id = @creator AND customer_id = @customer
		AND (status = 'open' OR status = 'failed' AND next_attempt_at IS NOT NULL)) THEN 'invoice'
	WHEN EXISTS (SELECT 1 FROM usage_billing_plans WHERE creator_id = @creator AND customer_id = @customer
		AND status <> 'ended') THEN 'usage'
	WHEN EXISTS (SELECT 1 FROM refunds WHERE creator_id = @creator AND customer_id = @customer
		AND status = 'pending') THEN 'refund'
	WHEN EXISTS (SELECT 1 FROM disputes WHERE creator_id = @creator AND customer_id = @customer
		AND status NOT IN ('won', 'lost')) THEN 'dispute'
	WHEN EXISTS (SELECT 1 FROM appointments WHERE creator_id = @creator AND customer_id = @customer
		AND status = 'confirmed' AND ends_at > CAST(@now AS BIGINT)) THEN 'appointment'
	ELSE '' END`

// Obstacle implements ports.Erasure. Payments of the customer's checkouts that begin meanwhile are waited for, and what
// is made of a customer who is read for share; nothing else begins before the transaction ends. The customer is locked
// first, as by the outcome of a payment.
func (t erasure) Obstacle(_ context.Context, c customer.State, now time.Time) (found customer.Obstacle, err error) {
	var locked []string
	err = t.ForUpdate().DB.Table("customers").Where("id = ?", c.ID).Pluck("id", &locked).Error
	if err != nil {
		return "", t.Failure("lock customer "+c.ID, err)
	}
	err = t.ForUpdate().DB.Table("sessions").Where(unpaid, named(c, now)).Order("id").Pluck("id", &locked).Error
	if err != nil {
		return "", t.Failure("lock checkouts of "+c.ID, err)
	}
	err = t.DB.Raw(obstacle, named(c, now)).Scan(&found).Error
	return found, t.Failure("look for obstacles of "+c.ID, err)
}

func named(c customer.State, now time.Time) map[string]any {
	return map[string]any{
		"creator": c.CreatorID, "customer": c.ID, "external": c.ExternalCustomerID, "email": strings.ToLower(c.Email),
		"key": customer.AccessKey(c.ExternalCustomerID, c.ID), "now": now.UnixMilli(),
		"reasons": refund.KnownReasons(),
	}
}

// blanked are the statements that need nothing but the customer.
var blanked = []string{
	`UPDATE payment_methods SET removed_at = COALESCE(removed_at, CAST(@now AS BIGINT)), token = '', last4 = '',
		exp_month = 0, exp_year = 0, revision = revision + 1 WHERE creator_id = @creator AND customer_id = @customer`,
	`UPDATE card_setups SET expires_at = CAST(@now AS BIGINT), revision = revision + 1 WHERE creator_id = @creator
		AND customer_id = @customer AND expires_at > CAST(@now AS BIGINT)`,
	`UPDATE subscriptions SET metadata = '', trial_card = '', revision = revision + 1 WHERE creator_id = @creator
		AND customer_id = @customer`,
	`UPDATE invoices SET metadata = '', revision = revision + 1 WHERE creator_id = @creator AND customer_id = @customer`,
	`UPDATE refunds SET metadata = '', reason = CASE WHEN reason IN @reasons THEN reason ELSE 'erased' END,
		revision = revision + 1 WHERE creator_id = @creator AND customer_id = @customer`,
	`UPDATE disputes SET evidence = '{}', files = '[]', revision = revision + 1 WHERE creator_id = @creator
		AND customer_id = @customer`,
	`UPDATE appointments SET cancel_reason = '', intake = '{}', revision = revision + 1 WHERE creator_id = @creator
		AND customer_id = @customer AND (cancel_reason <> '' OR intake <> '{}')`,
	// What guests and the creator were told of an appointment; 30 characters are its id.
	`UPDATE mails SET recipient = CASE WHEN kind LIKE 'guest.%' THEN '' ELSE recipient END, data = '{}',
		refused_at = CASE WHEN sent_at IS NULL THEN COALESCE(refused_at, created_at) ELSE refused_at END
		WHERE creator_id = @creator AND (kind LIKE 'guest.%' OR kind LIKE 'creator.appointment.%' AND sent_at IS NOT NULL)
		AND SUBSTR(cause, 1, 30) IN (SELECT id FROM appointments WHERE creator_id = @creator AND customer_id = @customer)`,
	`UPDATE grants SET note = '' WHERE creator_id = @creator AND external_customer_id = @key AND note <> ''`,
}

// Erase implements ports.Erasure.
func (t erasure) Erase(_ context.Context, c customer.State, now time.Time) error {
	op := "erase " + c.ID
	for _, statement := range blanked {
		if err := t.DB.Exec(statement, named(c, now)).Error; err != nil {
			return t.Failure(op, err)
		}
	}
	who := person{emails: []string{c.Email}, names: []string{c.DisplayName, c.Details.Name}}
	sessions, err := t.sessions(op, c, &who)
	if err != nil {
		return err
	}
	former, err := t.QueryIDs(op, `SELECT DISTINCT m.recipient FROM payments p
		JOIN mails m ON m.creator_id = p.creator_id AND m.kind = 'receipt' AND m.cause = p.id
		WHERE p.customer_id = ? AND p.customer_id <> '' LIMIT ?`, c.ID, math.MaxInt32) // from before it was corrected
	if err != nil {
		return err
	}
	who.emails = append(who.emails, former...)
	if err := t.mails(op, c.CreatorID, who); err != nil {
		return err
	}
	return t.events(op, c, sessions)
}

// person holds the addresses and names of a customer, from their record and their checkouts.
type person struct{ emails, names []string }

type buyerRow struct {
	ID    string
	Email string
	Buyer repo.JSONColumn[customer.Details]
}

// sessions blanks the customer's checkouts, those that were left included, and returns their ids. Where a buyer was
// stays: the tax of the sale follows from it.
func (t erasure) sessions(op string, c customer.State, who *person) (ids []string, err error) {
	var rows []buyerRow
	err = t.DB.Raw(`SELECT id, email, buyer FROM sessions WHERE creator_id = @creator AND customer_id = @customer
		OR `+unpaid, named(c, time.Time{})).Scan(&rows).Error
	if err != nil {
		return nil, t.Failure(op, err)
	}
	for _, row := range rows {
		ids = append(ids, row.ID)
		who.emails, who.names = append(who.emails, row.Email), append(who.names, row.Buyer.V.Name)
		place := customer.Details{Address: customer.Address{
			PostalCode: row.Buyer.V.PostalCode, Country: row.Buyer.V.Country,
		}}
		err := t.Exec(op, `UPDATE sessions SET email = '', buyer = ?, intake = '{}', metadata = '{}', utm = '{}', reference_id = '',
			opened_by = '', consent_from = NULL, revision = revision + 1 WHERE creator_id = ? AND id = ?`,
			repo.JSON(place), c.CreatorID, row.ID)
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// mails blanks what was sent to the customer, withdraws what was not, and empties what the creator was told of them.
func (t erasure) mails(op, creatorID string, who person) error {
	for _, email := range distinct(who.emails) {
		err := t.Exec(op, `UPDATE mails SET recipient = '', recipient_name = '', data = '{}',
			refused_at = CASE WHEN sent_at IS NULL THEN COALESCE(refused_at, created_at) ELSE refused_at END, refusal = ''
			WHERE creator_id = ? AND LOWER(recipient) = LOWER(?)`, creatorID, email)
		if err != nil {
			return err
		}
	}
	for _, word := range distinct(append(who.emails, who.names...)) {
		quoted, err := json.Marshal(word)
		if err != nil {
			return t.Failure(op, err)
		}
		err = t.Exec(op, `UPDATE mails SET data = '{}' WHERE creator_id = ? AND data LIKE ? ESCAPE '\'
			AND (sent_at IS NOT NULL OR refused_at IS NOT NULL)`, creatorID, repo.Containing(string(quoted)))
		if err != nil {
			return err
		}
	}
	return nil
}

// distinct are the words that are not empty, each once.
func distinct(words []string) []string {
	words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "" })
	slices.Sort(words)
	return slices.Compact(words)
}

type dataRow struct {
	ID   string
	Type string
	Data repo.JSONColumn[map[string]json.RawMessage]
}

// events blanks what integrators and buyers wrote themselves in the events about the customer, and what receivers of
// these responded.
func (t erasure) events(op string, c customer.State, sessions []string) error {
	var rows []dataRow
	err := t.DB.Raw(`SELECT id, type, data FROM events WHERE creator_id = @creator AND (customer_id = @customer
		OR external_customer_id = @external AND external_customer_id <> ''
		OR customer_id = '' AND type LIKE 'appointment.%')`, named(c, time.Time{})).Scan(&rows).Error
	if err != nil {
		return t.Failure(op, err)
	}
	for _, row := range rows {
		if !row.about(c, sessions) {
			continue
		}
		if row.blank() {
			if err := t.Exec(op, "UPDATE events SET data = ? WHERE creator_id = ? AND id = ?", row.Data, c.CreatorID,
				row.ID); err != nil {
				return err
			}
		}
		err := t.Exec(op, `UPDATE delivery_attempts SET response_body = '' WHERE creator_id = ? AND delivery_id IN
			(SELECT d.id FROM deliveries d WHERE d.creator_id = ? AND d.event_id = ?)`, c.CreatorID, c.CreatorID, row.ID)
		if err != nil {
			return err
		}
	}
	return nil
}

// about reports whether an event is about the customer: one of an appointment may name their checkout only.
func (r dataRow) about(c customer.State, sessions []string) bool {
	if !strings.HasPrefix(r.Type, "appointment.") {
		return true
	}
	var named struct{ ExternalCustomerID, CheckoutID string }
	_ = json.Unmarshal(r.Data.V["externalCustomerId"], &named.ExternalCustomerID) // null for none
	_ = json.Unmarshal(r.Data.V["checkoutId"], &named.CheckoutID)
	return named.ExternalCustomerID != "" && named.ExternalCustomerID == c.ExternalCustomerID ||
		slices.Contains(sessions, named.CheckoutID)
}

// blank empties the free texts of an event's data; changed is false when it has none.
func (r dataRow) blank() (changed bool) {
	set := func(members map[string]json.RawMessage, name, value string) {
		if old, known := members[name]; known && string(old) != value && string(old) != "null" {
			members[name], changed = json.RawMessage(value), true
		}
	}
	set(r.Data.V, "metadata", "{}")
	set(r.Data.V, "utm", "{}")
	set(r.Data.V, "referenceId", "null")
	var previous map[string]json.RawMessage
	if err := json.Unmarshal(r.Data.V["previous"], &previous); err == nil && previous["metadata"] != nil {
		set(previous, "metadata", "{}")
		if text, err := json.Marshal(previous); err == nil {
			r.Data.V["previous"] = text
		}
	}
	switch {
	case strings.HasPrefix(r.Type, "appointment."):
		set(r.Data.V, "cancelReason", "null")
		set(r.Data.V, "answers", "[]")
		set(r.Data.V, "notes", "null")
		set(r.Data.V, "guests", "[]")
	case strings.HasPrefix(r.Type, "dispute."):
		set(r.Data.V, "evidence", "null")
		set(r.Data.V, "files", "[]")
	case strings.HasPrefix(r.Type, "refund."):
		var reason string
		if _ = json.Unmarshal(r.Data.V["reason"], &reason); !slices.Contains(refund.KnownReasons(), reason) {
			set(r.Data.V, "reason", `"erased"`)
		}
	}
	return changed
}
