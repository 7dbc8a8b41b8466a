package stripepay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/stripe/stripe-go/v76"

	"sundry/core/fault"
	"sundry/core/payout"
	"sundry/ports"
)

// pendingVerification is a disabled reason that the library has no name for.
const pendingVerification = "requirements.pending_verification"

// OpenAccount implements ports.PayoutRail by an Express account, which receives transfers and takes no payments. Stripe
// forgets the key after a day: an opening whose response was lost and that is repeated later makes another account, and
// the first stays empty.
func (r Rail) OpenAccount(ctx context.Context, req ports.PayoutAccountRequest) (payout.AccountReport, error) {
	key := "payout_account:" + req.CreatorID + ":" + req.Country + ":" + req.Replaces
	made, err := call(ctx, "open account", func() (*stripe.Account, error) {
		return r.processor.api.Accounts.New(&stripe.AccountParams{
			Params: keyed(ctx, key), Type: new(string(stripe.AccountTypeExpress)), Country: new(req.Country),
			Email: new(req.Email),
			Capabilities: &stripe.AccountCapabilitiesParams{Transfers: &stripe.AccountCapabilitiesTransfersParams{Requested: new(
				true)}},
			Metadata: map[string]string{"creator_id": req.CreatorID},
		})
	})
	if refused := refusal(err); refused != nil && refused.code == string(stripe.ErrorCodeCountryUnsupported) {
		return payout.AccountReport{}, fault.Invalid(fault.Detail{Field: "country", Code: fault.DetailNotAllowed,
			Message: "Payouts to this country aren't possible yet."})
	}
	if err != nil {
		return payout.AccountReport{}, accountError(req.CreatorID, err)
	}
	return accountReport(made), nil
}

// FindAccount implements ports.PayoutRail.
func (r Rail) FindAccount(ctx context.Context, railID string) (payout.AccountReport, error) {
	found, err := call(ctx, "account", func() (*stripe.Account, error) {
		return r.processor.api.Accounts.GetByID(railID, &stripe.AccountParams{Params: keyed(ctx, "")})
	})
	if err != nil {
		return payout.AccountReport{}, accountError(railID, err)
	}
	return accountReport(found), nil
}

// LinkAccount implements ports.PayoutRail. Each visit needs a link of its own, so its key is never used again.
func (r Rail) LinkAccount(ctx context.Context, v ports.PayoutAccountVisit) (ports.PayoutAccountLink, error) {
	key := "account_link:" + rand.Text()
	made, err := call(ctx, "link account", func() (*stripe.AccountLink, error) {
		return r.processor.api.AccountLinks.New(&stripe.AccountLinkParams{
			Params: keyed(ctx, key), Account: new(v.RailID), Type: new(string(stripe.AccountLinkTypeAccountOnboarding)),
			ReturnURL: new(v.ReturnURL), RefreshURL: new(v.RefreshURL),
		})
	})
	if err != nil {
		return ports.PayoutAccountLink{}, accountError(v.RailID, err)
	}
	return ports.PayoutAccountLink{URL: made.URL, ExpiresAt: time.Unix(made.ExpiresAt, 0).UTC()}, nil
}

// accountError names the account in an error. Stripe responds 403 for an account that is not connected any more. Any
// other refusal is of the platform's own settings, so nothing can be done for the creator now.
func accountError(of string, err error) error {
	refused := refusal(err)
	switch {
	case refused != nil && refused.status == http.StatusForbidden &&
		refused.code == string(stripe.ErrorCodeAccountInvalid):
		return fmt.Errorf("account %s: %w: %w", of, refused, ports.ErrNotFound)
	case errors.Is(err, ports.ErrNotFound), errors.Is(err, ports.ErrOutcomeUnknown), errors.Is(err,
		ports.ErrProcessorUnavailable):
		return fmt.Errorf("account %s: %w", of, err)
	}
	return fmt.Errorf("account %s: %w: %w", of, err, ports.ErrProcessorUnavailable)
}

// accountReport is the state of an account. Both must be so for money to reach the creator's bank: transfers reach the
// account, and payouts leave it.
func accountReport(a *stripe.Account) payout.AccountReport {
	report := payout.AccountReport{ID: a.ID, Country: a.Country, Status: payout.AccountPending}
	if due := a.Requirements; due != nil {
		report.RequirementsDue = slices.Concat(due.CurrentlyDue, due.PastDue)
		report.DisabledReason = string(due.DisabledReason)
	}
	transfers := a.Capabilities != nil && a.Capabilities.Transfers == stripe.AccountCapabilityStatusActive
	checking := slices.Contains([]string{"", pendingVerification,
		string(stripe.AccountRequirementsDisabledReasonUnderReview)}, report.DisabledReason)
	switch {
	case transfers && a.PayoutsEnabled:
		report.Status = payout.AccountReady
	case a.DetailsSubmitted && !checking:
		report.Status = payout.AccountRestricted
	}
	return report
}
