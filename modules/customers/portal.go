package customers

import (
	"context"

	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/payment"
	"sundry/ports"
)

var _ ports.PortalLinks = (*Service)(nil)

// PortalRequest requests a link to a customer's portal. Exactly one of the two ids names the customer.
type PortalRequest struct {
	CustomerID, ExternalCustomerID string
	ReturnURL                      string
}

// CheckPortal lists everything that is wrong with the request, as one VALIDATION_FAILED error.
func (s *Service) CheckPortal(p PortalRequest) error {
	var f fault.Violations
	switch {
	case p.CustomerID == "" && p.ExternalCustomerID == "":
		f.Add("customerId", fault.DetailRequired, "Expected either customerId or externalCustomerId.")
	case p.CustomerID != "" && p.ExternalCustomerID != "":
		f.Add("externalCustomerId", fault.DetailNotAllowed, "Send either customerId or externalCustomerId, not both.")
	}
	if f.Check(p.ReturnURL != "", "returnUrl", fault.DetailRequired, "Expected where the customer goes afterwards.") {
		checkout.ValidateReturnURL("returnUrl", p.ReturnURL, !s.cfg.Live, &f)
	}
	return f.Err()
}

// OpenPortal returns a link to the portal of a customer of the account, good for a day. CUSTOMER_NOT_FOUND.
func (s *Service) OpenPortal(
	ctx context.Context, creatorID string, p PortalRequest,
) (address string, link customer.PortalLink, err error) {
	owner, err := s.Find(ctx, creatorID, p.CustomerID, p.ExternalCustomerID)
	if err == nil {
		err = owner.RefuseErased()
	}
	if err != nil {
		return "", link, err
	}
	link = customer.PortalLink{
		CustomerID: owner.ID, ReturnURL: p.ReturnURL, ExpiresAt: s.deps.Clock.Real().Add(customer.PortalSession).Unix(),
	}
	address, err = s.portalURL(link)
	return address, link, err
}

func (s *Service) portalURL(link customer.PortalLink) (string, error) {
	token, err := s.cfg.PortalKeys.Sign(link)
	return s.cfg.BaseURL + "/p/" + token, err
}

// PortalURL implements ports.PortalLinks.
func (s *Service) PortalURL(customerID string) (string, error) {
	return s.portalURL(customer.PortalLink{
		CustomerID: customerID, ExpiresAt: s.deps.Clock.Real().Add(customer.PortalMail).Unix(),
	})
}

// MailedPortalURL implements ports.PortalLinks.
func (s *Service) MailedPortalURL(customerID, address string) (string, error) {
	return s.portalURL(customer.PortalLink{
		CustomerID: customerID, ExpiresAt: s.deps.Clock.Real().Add(customer.PortalMail).Unix(),
		MailedTo: s.cfg.PortalKeys.Address(address),
	})
}

// AskURL returns the address of a page that mails a customer the way to their portal. Unlike a link to the portal, it
// may be shown where others see it.
func (s *Service) AskURL(customerID string) (string, error) {
	return s.portalURL(customer.PortalLink{CustomerID: customerID})
}

// Visit is a visit to a customer's portal.
type Visit struct {
	Customer  customer.State
	Seller    identity.Storefront
	ReturnURL string // empty for none
	link      customer.PortalLink
	// Expired means that the link is too old: it can only request a new one by mail.
	Expired bool
	// Asked means that the link was made for that alone.
	Asked bool
}

// OtherCustomer is a customer with the address of the one whose portal is open.
type OtherCustomer struct {
	customer.State
	// Token is the last part of the address of their own portal.
	Token string
}

// maxOthers bounds the customers of one address that a portal shows.
const maxOthers = 50

// Visit opens the portal behind a link. NOT_FOUND for anything that we did not give out.
func (s *Service) Visit(ctx context.Context, token string) (Visit, error) {
	link, ok := s.cfg.PortalKeys.Open(token)
	if !ok {
		return Visit{}, fault.NotFound("page")
	}
	r := s.deps.Store.Read(ctx)
	owner, err := r.Customers.Customers.Get(ctx, link.CustomerID)
	if owner, err = ports.Visible(owner, err, owner.ErasedAt.IsZero(), "page"); err != nil {
		return Visit{}, err
	}
	seller, err := s.deps.Accounts.Storefront(ctx, r, owner.CreatorID)
	return Visit{Customer: owner, Seller: seller, ReturnURL: link.ReturnURL, Expired: link.Expired(s.deps.Clock.Real()),
		Asked: link.Asks(), link: link}, err
}

// Others lists the account's other customers with the same address, newest first, with links like the one that was
// opened: a guest who buys twice is two customers. It is empty unless the link was mailed to that address.
func (s *Service) Others(ctx context.Context, v Visit) (others []OtherCustomer, err error) {
	owner, link := v.Customer, v.link
	if v.Expired || !s.cfg.PortalKeys.ReachesAll(link, owner.Email) {
		return nil, nil
	}
	found, err := s.deps.Store.Read(ctx).Customers.Customers.List(
		ctx, ports.CustomerFilter{CreatorID: owner.CreatorID, Email: owner.Email}, ports.Page{Limit: maxOthers},
	)
	for _, one := range found.Items {
		if one.ID == owner.ID {
			continue
		}
		link.CustomerID = one.ID
		token, err := s.cfg.PortalKeys.Sign(link)
		if err != nil {
			return nil, err
		}
		others = append(others, OtherCustomer{one, token})
	}
	return others, err
}

// MailLink mails a new link to the customer of an old one, to the address that the account knows. Again within the hour
// changes nothing, unless the customer has changed.
func (s *Service) MailLink(ctx context.Context, token string) error {
	visit, err := s.Visit(ctx, token)
	if err != nil {
		return err
	}
	if visit.Customer.Email == "" {
		return fault.New(fault.StateConflict, "There is no email address to send a link to.")
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return s.deps.Bus.Publish(ctx, r, customer.LinkAsked{State: visit.Customer, At: s.deps.Clock.Real()})
	})
}

// Payments lists a customer's payments, newest first.
func (s *Service) Payments(ctx context.Context, customerID string) ([]payment.State, error) {
	return s.deps.Store.Read(ctx).Payments.Payments.ListByCustomer(ctx, customerID, maxPayments)
}

// maxPayments bounds the payments that the portal lists.
const maxPayments = 100

// Payment returns one of a customer's payments. NOT_FOUND for any other.
func (s *Service) Payment(ctx context.Context, customerID, paymentID string) (payment.State, error) {
	paid, err := s.deps.Store.Read(ctx).Payments.Payments.Get(ctx, paymentID)
	return ports.Visible(paid, err, paid.CustomerID == customerID && paid.Status == payment.Succeeded, "receipt")
}
