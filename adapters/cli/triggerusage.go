package cli

import (
	"context"
	"net/http"
	"time"
)

// subscribedMeter sells a subscription and makes a meter. It returns the event name of the meter.
func (t *trigger) subscribedMeter(ctx context.Context) (sold receipt, meterID, eventName string, err error) {
	if sold, err = t.buy(ctx, cardPays, recurring); err != nil {
		return sold, "", "", err
	}
	eventName = newName("trigger.")
	var meter struct{ ID string }
	err = t.post(ctx, "/v1/usage/meters", object{
		"name": "sundry trigger", "eventName": eventName, "aggregation": "SUM",
	}, &meter)
	return sold, meter.ID, eventName, err
}

func (t *trigger) report(ctx context.Context, subscriptionID, eventName string, quantity int) error {
	return t.post(ctx, "/v1/usage/events", object{
		"subscriptionId": subscriptionID, "meter": eventName, "quantity": quantity,
	}, nil)
}

// reach reports use over an alert. Use is counted once a minute.
func (t *trigger) reach(ctx context.Context) error {
	sold, meterID, eventName, err := t.subscribedMeter(ctx)
	if err != nil {
		return err
	}
	alert := object{"subscriptionId": sold.SubscriptionID, "meterId": meterID, "threshold": 1}
	if err := t.post(ctx, "/v1/usage/alerts", alert, nil); err != nil {
		return err
	}
	if err := t.report(ctx, sold.SubscriptionID, eventName, 1); err != nil {
		return err
	}
	return t.advance(ctx, 2*time.Minute)
}

// prepaidUse is a listing whose plan sells a hundred minor units of use for three days.
func prepaidUse(name, currency string) object {
	return object{
		"key": name, "slug": name, "type": "DIGITAL", "status": "ACTIVE", "title": "Prepaid use", "priceInCents": 100,
		"currency": currency, "metadata": object{}, "plans": []object{{
			"key": "hundred", "name": "A hundred", "isDefault": true,
			"prices":       []object{{"currency": currency, "amountInCents": 100}},
			"usageCredits": []object{{"amountInCents": 100, "currency": currency, "expiresInDays": 3}},
		}},
	}
}

func (t *trigger) prepay(ctx context.Context) error {
	return t.sellPrepaid(ctx, newName("trigger-"), "eur")
}

// sellPrepaid sells prepaid use to a customer. Its slug is unique over all accounts, so it has a part of chance.
func (t *trigger) sellPrepaid(ctx context.Context, externalCustomerID, currency string) error {
	name := newName("sundry-trigger-")
	document := object{"version": 1, "listings": []object{prepaidUse(name, currency)}}
	if err := t.api.call(ctx, http.MethodPut, "/v1/catalog", document, nil); err != nil {
		return err
	}
	var session struct{ ID string }
	err := t.post(ctx, "/v1/checkout-sessions", object{
		"catalog": object{"listing": name, "plan": "hundred"}, "externalCustomerId": externalCustomerID,
		"email": "buyer@example.com", "successUrl": "http://localhost/success",
	}, &session)
	if err != nil {
		return err
	}
	return t.post(ctx, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay", object{
		"cardNumber": cardPays, "country": "IE",
	}, nil)
}

func (t *trigger) expirePrepaid(ctx context.Context) error {
	if err := t.prepay(ctx); err != nil {
		return err
	}
	return t.advance(ctx, 3*24*time.Hour+time.Second)
}

// usePrepaid bills a day of use that leaves a tenth, in the currency of a subscription.
func (t *trigger) usePrepaid(ctx context.Context) error {
	sold, meterID, eventName, err := t.subscribedMeter(ctx)
	if err != nil {
		return err
	}
	var subscription struct{ ExternalCustomerID, Currency string }
	path := "/v1/subscriptions/" + sold.SubscriptionID
	if err := t.get(ctx, path, &subscription); err != nil {
		return err
	}
	var product, price struct{ ID string }
	err = t.post(ctx, "/v1/usage/products", object{"name": "sundry trigger", "type": "SERVICE"}, &product)
	if err != nil {
		return err
	}
	if err := t.post(ctx, "/v1/usage/prices", object{
		"productId": product.ID, "billingScheme": "usage_based", "currency": subscription.Currency,
		"recurring": object{"interval": "day"}, "tiers": []object{{"upTo": nil, "unitAmountInCents": 90}},
	}, &price); err != nil {
		return err
	}
	if err := t.post(ctx, "/v1/usage/billing-plans", object{
		"subscriptionId": sold.SubscriptionID, "meterId": meterID, "priceId": price.ID, "billingInterval": "day",
	}, nil); err != nil {
		return err
	}
	if err := t.sellPrepaid(ctx, subscription.ExternalCustomerID, subscription.Currency); err != nil {
		return err
	}
	if err := t.report(ctx, sold.SubscriptionID, eventName, 1); err != nil {
		return err
	}
	return t.advance(ctx, 24*time.Hour+3*time.Minute)
}
