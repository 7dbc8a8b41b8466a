package catalog

import (
	"context"
	"encoding/base32"
	"strings"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/listing"
	"sundry/core/paymentlink"
	"sundry/ports"
)

// codeBytes makes codes of 16 characters, of which the first two are the cell's and nobody guesses the others.
const codeBytes = 10

var codeEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

func validCode(code string) bool {
	raw, err := codeEncoding.DecodeString(code)
	return err == nil && len(raw) == codeBytes && !strings.ContainsAny(code, "\r\n")
}

// CreateLink makes a payment link. VALIDATION_FAILED with every fault, NOT_FOUND for a listing of another account and
// for an unknown variant, plan, interval or currency, LISTING_NOT_PURCHASABLE for an archived listing.
func (s *Service) CreateLink(ctx context.Context, creatorID string, e paymentlink.Edit) (paymentlink.State, error) {
	code := s.deps.IDs.Random(codeBytes)
	s.deps.IDs.Cell().Mark(code)
	origin := paymentlink.Origin{
		ID: s.deps.IDs.New(id.PaymentLink), CreatorID: creatorID, Code: codeEncoding.EncodeToString(code),
	}
	var created paymentlink.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		link, err := paymentlink.Create(e, origin, s.deps.Sandbox, now)
		if err != nil {
			return err
		}
		created = link.State()
		if err := sellable(ctx, r, created); err != nil {
			return err
		}
		if err := r.Catalog.PaymentLinks.Insert(ctx, created); err != nil {
			return err
		}
		return s.auditLink(ctx, r, identity.PaymentLinkCreated, created)
	})
	return created, refusal("create payment link", err)
}

// Links lists the account's payment links, newest first.
func (s *Service) Links(ctx context.Context, creatorID string, page ports.Page) (ports.List[paymentlink.State], error) {
	return s.deps.Store.Read(ctx).Catalog.PaymentLinks.List(ctx, creatorID, page)
}

// Link shows one of the account's payment links. NOT_FOUND for all others.
func (s *Service) Link(ctx context.Context, creatorID, linkID string) (paymentlink.State, error) {
	return findLink(ctx, s.deps.Store.Read(ctx), creatorID, linkID)
}

// EditLink changes the members given. NOT_FOUND for a link of another account; otherwise refuses as CreateLink.
func (s *Service) EditLink(
	ctx context.Context, creatorID, linkID string, e paymentlink.Edit,
) (paymentlink.State, error) {
	return s.changeLink(ctx, creatorID, linkID, e, true)
}

// DeactivateLink stops a link from opening. Deactivating it again responds the same. NOT_FOUND for a link of another
// account.
func (s *Service) DeactivateLink(ctx context.Context, creatorID, linkID string) (paymentlink.State, error) {
	inactive := false
	return s.changeLink(ctx, creatorID, linkID, paymentlink.Edit{Active: &inactive}, false)
}

func (s *Service) changeLink(
	ctx context.Context, creatorID, linkID string, e paymentlink.Edit, mustSell bool,
) (paymentlink.State, error) {
	var after paymentlink.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		before, err := findLink(ctx, r, creatorID, linkID)
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		link := paymentlink.Restore(before)
		if err := link.Edit(e, s.deps.Sandbox, now); err != nil {
			return err
		}
		if after = link.State(); after == before {
			return nil
		}
		if mustSell && after.Active {
			if err := sellable(ctx, r, after); err != nil {
				return err
			}
		}
		if err := r.Catalog.PaymentLinks.Update(ctx, after); err != nil {
			return err
		}
		kind := identity.PaymentLinkChanged
		if before.Active && !after.Active {
			kind = identity.PaymentLinkDeactivated
		}
		return s.auditLink(ctx, r, kind, after)
	})
	return after, refusal("change payment link "+linkID, err)
}

// auditLink records what was done to a payment link, with its code.
func (s *Service) auditLink(
	ctx context.Context, r ports.Repos, kind identity.AccountEventKind, l paymentlink.State,
) error {
	return ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
		CreatorID: l.CreatorID, Kind: kind, ObjectID: l.ID, Note: l.Code,
	})
}

// sellable refuses a link to something that does not exist or is archived. A draft is fine: its link works once
// published.
func sellable(ctx context.Context, r ports.Repos, link paymentlink.State) error {
	l, err := mine(ctx, r, link.CreatorID, link.ListingID)
	if err != nil {
		return err
	}
	if l.Status == listing.Archived {
		return l.Purchasable()
	}
	_, err = pick(ctx, r, l, linkChoice(link))
	return err
}

func linkChoice(l paymentlink.State) choice {
	return choice{
		variantID: l.VariantID, planKey: l.PlanKey, every: l.Every, currency: l.Currency, mayChange: l.BuyerMayChange,
	}
}

func findLink(ctx context.Context, r ports.Repos, creatorID, linkID string) (paymentlink.State, error) {
	if !id.Valid(id.PaymentLink, linkID) {
		return paymentlink.State{}, fault.NotFound("payment link")
	}
	link, err := r.Catalog.PaymentLinks.Get(ctx, creatorID, linkID)
	return link, ports.Missing(err, "payment link")
}
