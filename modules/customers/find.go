package customers

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"sundry/core/customer"
	"sundry/core/email"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/secret"
	"sundry/ports"
)

// TaskFind mails somebody the link to what they bought; its subject is the account, "/" and the address.
const TaskFind = "customer.find"

// How often purchases are looked for: by one network, and for one address, by all networks together.
const (
	maxFindsOfNetwork   = 20
	networkWindow       = 10 * time.Minute
	maxFindsOfRecipient = 3
	recipientWindow     = time.Hour
)

// Shop returns the creator of an account as buyers see them. NOT_FOUND.
func (s *Service) Shop(ctx context.Context, creatorID string) (identity.Storefront, error) {
	shop, err := s.deps.Accounts.Storefront(ctx, s.deps.Store.Read(ctx), creatorID)
	return shop, ports.Missing(err, "page")
}

// FindURL returns the address of the page on which the customers of an account ask for the link to their portal.
func (s *Service) FindURL(creatorID string) string { return s.cfg.BaseURL + "/find/" + creatorID }

// AskByEmail mails the link to their portal to the owner of an address, if they have bought from the account. Nothing
// tells an address that is known from another: the customer is looked for later, by a task, and an address that was
// asked for too often gets no further mail. VALIDATION_FAILED for no address, RATE_LIMITED by the network that asks.
func (s *Service) AskByEmail(ctx context.Context, creatorID, address, network string) error {
	recipient, ok := email.Parse(address)
	if !ok {
		return fault.Invalid(fault.Detail{
			Field: "email", Code: fault.DetailInvalid, Message: "Enter an email address like name@example.com.",
		})
	}
	recipient = strings.ToLower(recipient)
	if err := ports.Admit(ctx, s.deps.Limiter, ports.Attempt{
		Key: s.limitKey("network", network), Limit: maxFindsOfNetwork, Window: networkWindow,
		Message: "Too many links were asked for. Wait a few minutes, then try again.",
	}); err != nil {
		return err
	}
	quota, err := s.deps.Limiter.Allow(
		ctx, s.limitKey("recipient", creatorID+"/"+recipient), maxFindsOfRecipient, recipientWindow,
	)
	if err != nil {
		return fmt.Errorf("count links to a recipient: %w", err)
	}
	if quota.Wait > 0 {
		return nil
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return ports.ScheduleIn(ctx, r, 0, TaskFind, creatorID+"/"+recipient, creatorID)
	})
}

// limitKey is the key of a rate limit, which names nobody.
func (s *Service) limitKey(of, who string) string {
	mac := secret.MAC(secret.Keys(s.cfg.PortalKeys).Current(), "find", of+"/"+who)
	return "customers.find." + of + ":" + hex.EncodeToString(mac[:16])
}

// MailFound mails the link to the account's latest customer with an address, who sees there what others with it have
// bought. Task TaskFind.
func (s *Service) MailFound(ctx context.Context, t ports.Task) error {
	_, address, _ := strings.Cut(t.Subject, "/")
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		found, err := r.Customers.Customers.List(
			ctx, ports.CustomerFilter{CreatorID: t.CreatorID, Email: address}, ports.Page{Limit: 1},
		)
		if err != nil || len(found.Items) == 0 {
			return err
		}
		return s.deps.Bus.Publish(ctx, r, customer.LinkAsked{State: found.Items[0], At: s.deps.Clock.Real()})
	})
}
