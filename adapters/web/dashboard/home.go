package dashboard

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/dispute"
	"sundry/core/listing"
	"sundry/core/payout"
	"sundry/core/subscription"
	"sundry/core/webhook"
	"sundry/ports"
)

// home is the first page: how the shop does, and what needs attention.
func (r *Routes) home(c *fiber.Ctx, v *visit) error {
	p := ui.Page{Nav: base, Title: "Home", Lead: v.say("How %s is doing.", v.Creator.DisplayName)}
	start, started, err := r.gettingStarted(c, v)
	if err != nil {
		return err
	}
	attention, err := r.attention(c, v)
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, confirmationNote(v)...)
	p.Parts = append(p.Parts, attention...)
	if !started {
		p.Parts = append(p.Parts, start)
	}
	sales, err := r.salesParts(c, v)
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, sales...)
	recent, err := r.recent(c, v)
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, recent)
	return r.send(c, v, p)
}

// gettingStarted is the way to the first sale; done means that it lies behind.
func (r *Routes) gettingStarted(c *fiber.Ctx, v *visit) (p ui.Part, done bool, err error) {
	ctx, one := c.UserContext(), ports.Page{Limit: 1}
	listings, err := r.Catalog.OwnListings(ctx, v.account(), ports.Page{Limit: 20})
	if err != nil {
		return p, false, err
	}
	links, err := r.Catalog.Links(ctx, v.account(), one)
	if err != nil {
		return p, false, err
	}
	paid, err := r.Payments.List(ctx, v.account(), ports.PaymentSearch{}, one)
	if err != nil {
		return p, false, err
	}
	active := slices.ContainsFunc(listings.Items, func(l listing.State) bool { return l.Status == listing.Active })
	steps := []ui.Check{
		{Done: len(listings.Items) > 0, Title: "Make a listing", Text: "Describe what you sell and set its price.",
			Href: base + "/listings/new", Label: "New listing"},
		{Done: active, Title: "Publish it", Text: "Only a published listing can be bought.", Href: base + "/listings",
			Label: "Your listings"},
		{Done: len(links.Items) > 0, Title: "Create a payment link", Text: "Share it anywhere: it opens your checkout.",
			Href: base + "/links/new", Label: "New link"},
		{Done: len(paid.Items) > 0, Title: "Make a test payment",
			Text: "Open your link and pay with 4242 4242 4242 4242. No money moves.", Href: base + "/links",
			Label: "Your links"},
	}
	if r.Sandbox == nil {
		steps[3].Title, steps[3].Text = "Sell for the first time", "Share your link with a buyer."
	}
	if next := slices.IndexFunc(steps, func(s ui.Check) bool { return !s.Done }); next >= 0 {
		steps[next].Next = true
	}
	return ui.Part{Kind: "checks", Title: "Four steps to your first sale", Data: steps}, len(paid.Items) > 0 && active &&
		len(links.Items) > 0, nil
}

// maxAttention bounds how far back each list is read.
const maxAttention = 100

// attention lists what the creator should see to.
func (r *Routes) attention(c *fiber.Ctx, v *visit) (all []ui.Part, err error) {
	ctx, some := c.UserContext(), ports.Page{Limit: maxAttention}
	add := func(tone string, text, label ui.Words, href string) {
		all = append(all, ui.Part{Kind: "note", Data: ui.Note{Tone: tone, Text: text,
			Action: &ui.Action{Label: label, Href: href}}})
	}
	disputes, err := r.Disputes.List(ctx, v.account(), "", some)
	if err != nil {
		return nil, err
	}
	if n := countIf(disputes.Items, func(d dispute.State) bool { return d.Status == dispute.NeedsResponse }); n > 0 {
		add("bad", v.plural(n, "%d dispute needs your evidence.", "%d disputes need your evidence."), "See disputes",
			base+"/disputes?status=needs_response")
	}
	endpoints, err := r.Webhooks.Endpoints(ctx, v.account(), some)
	if err != nil {
		return nil, err
	}
	if n := countIf(endpoints.Items, func(e webhook.EndpointState) bool {
		return !e.Enabled &&
			e.DisabledReason != ""
	}); n > 0 {
		add("bad", v.plural(n, "%d webhook endpoint was disabled because deliveries kept failing.",
			"%d webhook endpoints were disabled because deliveries kept failing."),
			"See endpoints", base+"/webhooks")
	}
	overdue, err := r.Subscriptions.List(ctx, ports.SubscriptionFilter{CreatorID: v.account(),
		Status: subscription.StatusPastDue}, some)
	if err != nil {
		return nil, err
	}
	if n := len(overdue.Items); n > 0 {
		add("wait", v.plural(n, "%d subscription is past due: the card failed and is tried again.",
			"%d subscriptions are past due: the card failed and is tried again."),
			"See subscriptions", base+"/subscriptions?status=past_due")
	}
	account, waiting, err := r.Treasury.PayoutsWait(ctx, v.account())
	if err != nil {
		return nil, err
	}
	if waiting {
		add(payoutAccountTones[account.Status].Tone, payoutsWait(account.Status), "See payout account",
			base+"/balance#payout-account")
	}
	return all, nil
}

// payoutsWait explains why nothing is paid out.
func payoutsWait(status payout.AccountStatus) ui.Words {
	switch status {
	case payout.AccountRestricted:
		return "Your payouts wait: your payout account is restricted."
	case payout.AccountPending:
		return "Your payouts wait: your payout account isn’t ready yet."
	case payout.AccountNone, payout.AccountReady:
	}
	return "Your payouts wait: you have no payout account yet."
}

func countIf[T any](all []T, is func(T) bool) (n int) {
	for _, one := range all {
		if is(one) {
			n++
		}
	}
	return n
}

// recent are the latest orders.
func (r *Routes) recent(c *fiber.Ctx, v *visit) (ui.Part, error) {
	l := r.orderList(v, r.names(v))
	paid, err := l.Read(c.UserContext(), ui.Query{}, ports.Page{Limit: 6})
	if err != nil {
		return ui.Part{}, err
	}
	t := l.TableOf(paid.Items)
	if len(paid.Items) == 0 {
		t.Empty = &l.Empty
	}
	p := ui.TablePart("Latest orders", t)
	p.Actions = []ui.Action{ui.Link("All orders", base+"/orders")}
	return p, nil
}
