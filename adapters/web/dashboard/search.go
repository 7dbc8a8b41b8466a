package dashboard

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/document"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/invoice"
	"sundry/ports"
)

const (
	// maxFound bounds the lines of a group, and maxOwners the customers whose orders, subscriptions, bookings and invoices
	// are shown.
	maxFound, maxOwners = 10, 50
	// maxSought bounds the bytes of what is searched for, as in the filters of lists.
	maxSought = 200
)

// search finds everything of the account by an e-mail address or a part of it, a name, a number of a document, an id or
// a listing's title. An id leads straight to its page.
func (r *Routes) search(c *fiber.Ctx, v *visit) error {
	sought := strings.TrimSpace(c.Query("q"))
	p := ui.Page{Nav: base + "/search", Title: "Search", Sought: sought}
	if sought == "" || len(sought) > maxSought {
		p.Lead = searchHelp
		return r.send(c, v, p)
	}
	at, err := r.pageOfID(c.UserContext(), v, sought)
	if err != nil {
		return err
	}
	if at != "" {
		return layout.SeeOther(c, base+at)
	}
	if p.Parts, err = r.found(c.UserContext(), v, sought); err != nil {
		return err
	}
	p.Title = v.say("Results for “%s”", sought)
	if len(p.Parts) == 0 {
		p.Parts = []ui.Part{ui.TablePart("", ui.Table{Empty: &ui.Empty{
			Title: "Nothing found", Text: searchHelp,
		}})}
	}
	return r.send(c, v, p)
}

const searchHelp = "Enter an email address or part of one, a name, a receipt or invoice number, an ID, or a listing’s " +
	"title."

// pagesOfIDs map the kinds of ids to the pages of what they name, in the account of the visit. Each returns an error of
// fault.NotFound for what is another account's, or not there.
func (r *Routes) pagesOfIDs(v *visit) map[id.Prefix]func(context.Context, string) (string, error) {
	return map[id.Prefix]func(context.Context, string) (string, error){
		id.Payment: func(ctx context.Context, sought string) (string, error) {
			_, err := r.Payments.Get(ctx, v.account(), sought)
			return "/orders/" + sought, err
		},
		id.Customer: func(ctx context.Context, sought string) (string, error) {
			_, err := r.Customers.Get(ctx, v.account(), sought)
			return "/customers/" + sought, err
		},
		id.Listing: func(ctx context.Context, sought string) (string, error) {
			_, err := r.Catalog.OwnListing(ctx, v.account(), sought)
			return "/listings/" + sought, err
		},
		id.PaymentLink: func(ctx context.Context, sought string) (string, error) {
			_, err := r.Catalog.Link(ctx, v.account(), sought)
			return "/links/" + sought, err
		},
		id.Subscription: func(ctx context.Context, sought string) (string, error) {
			_, err := r.Subscriptions.Get(ctx, v.account(), sought)
			return "/subscriptions/" + sought, err
		},
		id.Appointment: func(ctx context.Context, sought string) (string, error) {
			_, err := r.Booking.Appointment(ctx, v.account(), sought)
			return "/bookings/" + sought, err
		},
		id.Invoice: func(ctx context.Context, sought string) (string, error) {
			_, err := r.Invoicing.Invoice(ctx, v.account(), sought)
			return "/invoices/" + sought, err
		},
		id.Refund: func(ctx context.Context, sought string) (string, error) {
			f, err := r.Refunds.Get(ctx, v.account(), sought)
			return "/orders/" + f.PaymentID, err
		},
		id.Dispute: func(ctx context.Context, sought string) (string, error) {
			_, err := r.Disputes.Get(ctx, v.account(), sought)
			return "/disputes/" + sought, err
		},
		id.Payout: func(ctx context.Context, sought string) (string, error) {
			_, err := r.Treasury.GetPayout(ctx, v.account(), sought)
			return "/balance/payouts/" + sought, err
		},
		id.CheckoutSession: func(ctx context.Context, sought string) (string, error) {
			session, err := r.Checkout.Get(ctx, v.account(), sought)
			if err == nil && session.PaymentID == "" {
				err = fault.NotFound("payment")
			}
			return "/orders/" + session.PaymentID, err
		},
		id.Event: func(ctx context.Context, sought string) (string, error) {
			_, err := r.Webhooks.Event(ctx, v.account(), sought)
			return "/events/" + sought, err
		},
		id.WebhookEndpoint: func(ctx context.Context, sought string) (string, error) {
			_, err := r.Webhooks.Endpoint(ctx, v.account(), sought)
			return "/webhooks/" + sought, err
		},
	}
}

// pageOfID returns the page of what an id names; "" for what is no id of the account's.
func (r *Routes) pageOfID(ctx context.Context, v *visit, sought string) (string, error) {
	prefix, _, _ := strings.Cut(sought, "_")
	page := r.pagesOfIDs(v)[id.Prefix(prefix)]
	if page == nil || id.Body(sought) == "" {
		return "", nil
	}
	at, err := page(ctx, sought)
	if fault.Is(err, fault.NotFoundCode) || fault.Is(err, fault.CustomerNotFound) {
		return "", nil
	}
	return at, err
}

// results are the groups of a search.
type results struct {
	sought string
	parts  []ui.Part
}

// showFound adds a group, if something was found; filter is the one of the list's page that finds the rest.
func showFound[T any](in *results, title ui.Words, l *ui.List[T], found []T, filter string) {
	if len(found) == 0 {
		return
	}
	t := l.TableOf(found[:min(len(found), maxFound)])
	t.Label = title
	p := ui.TablePart(title, t)
	if len(found) >= maxFound {
		p.Lead = "The latest."
		p.Actions = []ui.Action{ui.Link("All", l.Path+"?"+filter+"="+url.QueryEscape(in.sought))}
	}
	in.parts = append(in.parts, p)
}

// found returns a part for each group of results that is not empty.
func (r *Routes) found(ctx context.Context, v *visit, sought string) ([]ui.Part, error) {
	in := &results{sought: sought}
	customers, err := r.Customers.Search(ctx, v.account(), sought, maxOwners)
	if err != nil {
		return nil, err
	}
	owners := make([]string, len(customers))
	for i, one := range customers {
		owners[i] = one.ID
	}
	documents, err := r.Documents.FindByNumber(ctx, v.account(), sought)
	if err != nil {
		return nil, err
	}
	names := r.names(v)
	showFound(in, "Customers", r.customerList(v), customers, "q")
	orders, err := r.foundOrders(ctx, v, sought, owners, documents)
	if err != nil {
		return nil, err
	}
	for _, one := range orders {
		if err := names.load(ctx, one.CustomerID); err != nil {
			return nil, err
		}
	}
	showFound(in, "Orders", r.orderList(v, names), orders, "customer")
	if len(owners) > 0 {
		if err := r.foundOf(ctx, v, in, owners); err != nil {
			return nil, err
		}
	}
	for _, d := range documents {
		if d.Kind == document.Invoice {
			one, err := r.Invoicing.Invoice(ctx, v.account(), d.SubjectID)
			if err != nil {
				return nil, err
			}
			showFound(in, "Invoices", r.invoiceList(v, names), []invoice.State{one}, "q")
		}
	}
	listings, err := r.Catalog.SearchOwn(ctx, v.account(), sought, maxFound)
	if err != nil {
		return nil, err
	}
	showFound(in, "Listings", r.listingList(v), listings, "q")
	return in.parts, nil
}

// foundOf adds the subscriptions, bookings and invoices of customers.
func (r *Routes) foundOf(ctx context.Context, v *visit, in *results, owners []string) error {
	some, names := ports.Page{Limit: maxFound}, r.names(v)
	if err := names.load(ctx, owners...); err != nil {
		return err
	}
	zone, err := r.zone(ctx, v)
	if err != nil {
		return err
	}
	subscribed, err := r.Subscriptions.List(
		ctx, ports.SubscriptionFilter{CreatorID: v.account(), CustomerIDs: owners}, some,
	)
	if err != nil {
		return err
	}
	showFound(in, "Subscriptions", r.subscriptionList(v, names), subscribed.Items, "customer")
	booked, err := r.Booking.Appointments(ctx, v.account(), ports.AppointmentSearch{CustomerIDs: owners}, some)
	if err != nil {
		return err
	}
	showFound(in, "Bookings", r.bookingList(v, names, zone, time.Time{}), booked.Items, "q")
	billed, err := r.Invoicing.Invoices(ctx, v.account(), ports.InvoiceSearch{CustomerIDs: owners}, some)
	if err != nil {
		return err
	}
	showFound(in, "Invoices", r.invoiceList(v, names), billed.Items, "q")
	return nil
}

// foundOrders returns the orders with the number of a receipt or credit note, of the customers, or of a buyer who
// entered what is sought.
func (r *Routes) foundOrders(
	ctx context.Context, v *visit, sought string, owners []string, documents []document.Snapshot,
) (orders []ports.ListedPayment, err error) {
	known := map[string]bool{}
	add := func(more ports.List[ports.ListedPayment], err error) error {
		for _, one := range more.Items {
			if !known[one.ID] && len(orders) < maxFound {
				known[one.ID] = true
				orders = append(orders, one)
			}
		}
		return err
	}
	some := ports.Page{Limit: maxFound}
	for _, d := range documents {
		paymentID, err := r.paymentOf(ctx, v, d)
		if err != nil {
			return nil, err
		}
		if paymentID != "" {
			if err := add(r.Payments.List(ctx, v.account(), ports.PaymentSearch{ID: paymentID}, some)); err != nil {
				return nil, err
			}
		}
	}
	if len(owners) > 0 {
		if err := add(r.Payments.List(ctx, v.account(), ports.PaymentSearch{CustomerIDs: owners}, some)); err != nil {
			return nil, err
		}
	}
	return orders, add(r.Payments.SearchBuyers(ctx, v.account(), sought, some))
}

// paymentOf returns the payment that a receipt or a credit note is for; "" for any other document.
func (r *Routes) paymentOf(ctx context.Context, v *visit, d document.Snapshot) (string, error) {
	switch prefix, _, _ := strings.Cut(d.SubjectID, "_"); id.Prefix(prefix) {
	case id.Payment:
		return d.SubjectID, nil
	case id.Refund:
		f, err := r.Refunds.Get(ctx, v.account(), d.SubjectID)
		return f.PaymentID, err
	case id.Dispute:
		one, err := r.Disputes.Get(ctx, v.account(), d.SubjectID)
		return one.PaymentID, err
	default:
		return "", nil
	}
}
