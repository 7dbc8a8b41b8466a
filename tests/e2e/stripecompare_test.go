package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"sundry/adapters/stripepay"
	"sundry/core/money"
)

// quiet lets Stripe do all that it is asked and deliver all of its events, and compares the books with Stripe's as soon
// as they agree.
func (l *stripeLife) quiet() {
	l.heal()()
	l.fake.DelayRefunds(false)
	l.fetchEvents()
	if len(l.late) > 0 {
		l.late = rapid.Permutation(l.late).Draw(l.r, "events")
	}
	var different []string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		l.fetchEvents()
		for _, e := range l.late {
			l.send(e)
		}
		l.sent, l.late = append(l.sent, l.late...), nil
		// What has failed waits for real time to pass.
		l.a.Exec(l, "UPDATE tasks SET run_at = $1 WHERE last_error <> '' AND lease_until = 0", time.Now().UnixMilli())
		l.wait(time.Hour)()
		if different = l.differences(); len(different) == 0 {
			l.verifyBooks()
			return
		}
	}
	l.r.Fatalf("the books differ:\n%s", strings.Join(different, "\n"))
}

// differences lists what Stripe and the program do not both know, and what is not done yet.
func (l *stripeLife) differences() (all []string) {
	there, here := l.there(), l.here()
	for _, line := range there {
		if i := slices.Index(here, line); i >= 0 {
			here = slices.Delete(here, i, i+1)
			continue
		}
		all = append(all, "only at Stripe: "+line)
	}
	for _, line := range here {
		all = append(all, "only here: "+line)
	}
	for _, failed := range l.a.Rows(l, "SELECT kind, subject, attempts, last_error FROM tasks WHERE last_error <> ''") {
		all = append(all, "failing: "+failed)
	}
	all = append(all, l.a.Rows(l, `SELECT 'paid twice', p.subject_id FROM payments p WHERE p.creator_id = $1
		AND p.purpose = 'checkout' AND p.status = 'succeeded' AND NOT EXISTS (SELECT 1 FROM refunds f
		WHERE f.creator_id = $1 AND f.payment_id = p.id AND f.automatic) GROUP BY p.subject_id HAVING COUNT(*) > 1`,
		l.a.ID)...)
	gives := l.sources("ada")
	maps.Copy(gives, l.sources("bob"))
	for paymentID, want := range l.entitled() {
		if gives[paymentID] != want {
			all = append(all, fmt.Sprintf("%s gives access: %t", paymentID, gives[paymentID]))
		}
	}
	return all
}

// there lists the money that has moved at Stripe, and what waits for a buyer.
func (l *stripeLife) there() (lines []string) {
	owner, clearing, disputed := map[any]any{}, map[any]int64{}, map[any]bool{}
	for _, o := range l.fake.All("pi_") {
		paymentID := o["metadata"].(map[string]any)["payment_id"]
		owner[o["id"]] = paymentID
		switch o["status"] {
		case "succeeded":
			booked := o["latest_charge"].(map[string]any)["balance_transaction"].(map[string]any)
			amount, fee := minor(o["amount"], o["currency"]), minor(booked["fee"], o["currency"])
			clearing[o["currency"]] += amount - fee
			lines = append(lines, fmt.Sprintf("payment %v %d %v %d %v", paymentID, amount, o["currency"], fee, o["id"]))
		case "requires_action":
			lines = append(lines, fmt.Sprint("challenge ", paymentID))
		}
	}
	for _, o := range l.fake.All("re_") {
		if o["status"] != "failed" {
			id, ours := o["metadata"].(map[string]any)["refund_id"]
			if !ours {
				id = o["id"]
			}
			amount := minor(o["amount"], o["currency"])
			if o["status"] == "succeeded" {
				clearing[o["currency"]] -= amount
			}
			lines = append(lines, fmt.Sprintf("refund %v %v %v %v", owner[o["payment_intent"]], id, amount, o["status"]))
		}
	}
	for _, o := range l.fake.All("dp_") {
		switch o["status"] {
		case "needs_response", "under_review":
			disputed[o["currency"]] = true
		case "lost":
			clearing[o["currency"]] -= minor(o["amount"], o["currency"])
		}
		lines = append(lines, fmt.Sprintf("dispute %v %v", o["id"], o["status"]))
	}
	for _, o := range l.fake.All("tr_") {
		if o["reversed"] != true {
			amount := minor(o["amount"], o["currency"])
			clearing[o["currency"]] -= amount
			lines = append(lines, fmt.Sprintf("payout %v %v paid", o["transfer_group"], amount))
		}
	}
	for currency, amount := range clearing {
		if amount != 0 && !disputed[currency] { // less than a bank claims is held while a refund of it is under way
			lines = append(lines, fmt.Sprintf("cleared %v %d", currency, amount))
		}
	}
	return lines
}

// minor converts Stripe's units, rounding half up.
func minor(units, currency any) int64 {
	unit := stripepay.Unit(money.Currency(fmt.Sprint(currency)))
	return (int64(units.(float64)) + unit/2) / unit
}

// here lists the same of the program, and what must not be for long.
func (l *stripeLife) here() (lines []string) {
	for _, query := range []string{
		`SELECT 'payment', id, amount, currency, processor_fee, processor_id FROM payments
			WHERE creator_id = $1 AND status = 'succeeded' AND amount > 0`,
		"SELECT 'challenge', id FROM payments WHERE creator_id = $1 AND status = 'requires_action' AND amount > 0",
		"SELECT 'unsettled payment', id, status FROM payments WHERE creator_id = $1 AND status IN ('pending', 'processing')",
		`SELECT 'refund', payment_id, CASE processor_id WHEN '' THEN id ELSE processor_id END, amount, status FROM refunds
			WHERE creator_id = $1 AND status <> 'failed' AND NOT (automatic AND status = 'pending' AND payment_id IN (
			SELECT payment_id FROM disputes WHERE creator_id = $1 AND status NOT IN ('won', 'lost')))`,
		"SELECT 'dispute', processor_id, status FROM disputes WHERE creator_id = $1",
		`SELECT 'cleared', currency, SUM(processor_clearing) FROM ledger_postings WHERE creator_id = $1 AND currency NOT IN
			(SELECT currency FROM disputes WHERE creator_id = $1 AND status IN ('needs_response', 'under_review'))
			GROUP BY currency HAVING SUM(processor_clearing) <> 0`,
		"SELECT 'payout', id, amount, status FROM payouts WHERE creator_id = $1 AND status <> 'failed'",
	} {
		lines = append(lines, l.a.Rows(l, query, l.a.ID)...)
	}
	return lines
}

// entitled tells of the payments for what is sold once whether they give access. It leaves out those of which a part
// has gone back, or all with the access kept.
func (l *stripeLife) entitled() map[string]bool {
	gives := map[string]bool{}
	for _, row := range l.a.Rows(l, `SELECT p.id, p.amount,
			(SELECT COALESCE(SUM(f.amount), 0) FROM refunds f
				WHERE f.creator_id = $1 AND f.payment_id = p.id AND f.status <> 'failed'),
			(SELECT COALESCE(SUM(d.amount), 0) FROM disputes d
				WHERE d.creator_id = $1 AND d.payment_id = p.id AND d.status = 'lost'),
			(SELECT COUNT(*) FROM disputes d
				WHERE d.creator_id = $1 AND d.payment_id = p.id AND d.status IN ('needs_response', 'under_review')),
			(SELECT COUNT(*) FROM refunds f WHERE f.creator_id = $1 AND f.payment_id = p.id
				AND (f.keep_access OR f.status = 'pending'))
		FROM payments p JOIN sessions s ON s.id = p.subject_id AND s.payment_id = p.id AND s.subscription_id = ''
		WHERE p.creator_id = $1 AND s.creator_id = $1`, l.a.ID) {
		var paymentID string
		var amount, refunded, lost, open, unclear int64
		if _, err := fmt.Sscan(row, &paymentID, &amount, &refunded, &lost, &open, &unclear); err != nil {
			l.Fatal(err)
		}
		switch {
		case open > 0 || unclear > 0:
		case refunded+lost == 0:
			gives[paymentID] = true
		case refunded+lost == amount:
			gives[paymentID] = false
		}
	}
	return gives
}
