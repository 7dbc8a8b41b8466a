package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/dispute"
	"sundry/core/listing"
	"sundry/core/payout"
	"sundry/core/subscription"
	"sundry/core/webhook"
	"sundry/ports"
)

// homeDays is the number of days the chart shows.
const homeDays = 30

// home is the first page: how the shop does, and what needs attention.
func (r *Routes) home(c *fiber.Ctx, v *visit) error {
	p := ui.Page{Nav: base, Title: "Home", Lead: "How " + v.Creator.DisplayName + " is doing."}
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
	sales, err := r.sales(c, v)
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

// sales shows the balance and the latest sales, in the currency with the most of them.
func (r *Routes) sales(c *fiber.Ctx, v *visit) ([]ui.Part, error) {
	ctx := c.UserContext()
	sold, today, err := r.Treasury.SalesByDay(ctx, v.account(), 2*homeDays)
	if err != nil {
		return nil, err
	}
	balances, err := r.Treasury.Balance(ctx, v.account())
	if err != nil {
		return nil, err
	}
	from := today.AddDate(0, 0, 1-homeDays)
	currency := busiest(sold)
	if currency == "" && len(balances) > 0 {
		currency = string(balances[0].Currency)
	}
	currency = cmp.Or(currency, "eur")
	var total, before, count int64
	bars := make([]ui.Bar, homeDays)
	for i := range bars {
		bars[i].Day = from.AddDate(0, 0, i)
	}
	for _, d := range sold {
		switch {
		case string(d.Currency) != currency:
		case d.Day.Before(from):
			before += d.Minor
		default:
			total, count = total+d.Minor, count+d.Count
			if i := int(d.Day.Sub(from) / (24 * time.Hour)); i < len(bars) {
				bars[i].Value = d.Minor
			}
		}
	}
	var rows []ui.Row
	for i := range bars {
		bars[i].Label = v.reader.Date(bars[i].Day) + ": " + v.price(bars[i].Value, currency)
		if bars[i].Value > 0 {
			rows = append(rows, ui.Row{Cells: []ui.Cell{
				ui.Text(v.reader.Date(bars[i].Day)),
				{Text: v.price(bars[i].Value, currency), Num: true},
			}})
		}
	}
	stats := []ui.Stat{
		{Label: "Sales, last 30 days", Value: v.price(total, currency), Note: trend(total, before), Href: base + "/orders"},
		{Label: "Orders, last 30 days", Value: fmt.Sprint(count), Note: "", Href: base + "/orders"},
	}
	for _, b := range balances {
		if string(b.Currency) == currency {
			stats = append(stats,
				ui.Stat{Label: "Available", Value: v.price(b.Available, currency), Note: "Ready to pay out",
					Href: base + "/balance"},
				ui.Stat{Label: "Pending", Value: v.price(b.Pending, currency), Note: "Available after 7 days",
					Href: base + "/balance"},
			)
		}
	}
	if len(stats) == 2 {
		stats = append(stats,
			ui.Stat{Label: "Available", Value: v.price(0, currency), Note: "Ready to pay out", Href: base + "/balance"},
			ui.Stat{Label: "Pending", Value: v.price(0, currency), Note: "Available after 7 days", Href: base + "/balance"},
		)
	}
	return []ui.Part{
		{Kind: "stats", Data: stats},
		{Kind: "chart", Title: "Sales by day", Lead: v.reader.Date(from) + " – " + v.reader.Date(today), Data: chartView{
			Drawing: ui.BarChart(bars), First: v.reader.Date(from), Last: v.reader.Date(today),
			Table: ui.Table{Label: "Sales by day", Heads: []ui.Head{
				{Label: "Day"},
				{Label: "Sales", Num: true},
			}, Rows: rows}, None: total == 0,
		}},
	}, nil
}

// chartView is a chart with the same as a table.
type chartView struct {
	Drawing     ui.Drawing
	First, Last string
	Table       ui.Table
	None        bool
}

// busiest is the currency with most sales.
func busiest(sold []ports.DaySales) (currency string) {
	counts := map[string]int64{}
	for _, d := range sold {
		counts[string(d.Currency)] += d.Count
		if c := string(d.Currency); counts[c] > counts[currency] || c == currency {
			currency = c
		}
	}
	return currency
}

// trend compares with the same time before.
func trend(now, before int64) string {
	switch {
	case before == 0 || now == before:
		return ""
	case now > before:
		return fmt.Sprintf("up %d%% on the 30 days before", (now-before)*100/before)
	default:
		return fmt.Sprintf("down %d%% on the 30 days before", (before-now)*100/before)
	}
}

// maxAttention bounds how far back each list is read.
const maxAttention = 100

// attention lists what the creator should see to.
func (r *Routes) attention(c *fiber.Ctx, v *visit) (all []ui.Part, err error) {
	ctx, some := c.UserContext(), ports.Page{Limit: maxAttention}
	add := func(tone, text, label, href string) {
		all = append(all, ui.Part{Kind: "note", Data: ui.Note{Tone: tone, Text: text,
			Action: &ui.Action{Label: label, Href: href}}})
	}
	disputes, err := r.Disputes.List(ctx, v.account(), "", some)
	if err != nil {
		return nil, err
	}
	if n := countIf(disputes.Items, func(d dispute.State) bool { return d.Status == dispute.NeedsResponse }); n > 0 {
		add("bad", plural(n, "dispute needs", "disputes need")+" your evidence.", "See disputes",
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
		add("bad", plural(n, "webhook endpoint was", "webhook endpoints were")+" disabled because deliveries kept failing.",
			"See endpoints", base+"/webhooks")
	}
	overdue, err := r.Subscriptions.List(ctx, ports.SubscriptionFilter{CreatorID: v.account(),
		Status: subscription.StatusPastDue}, some)
	if err != nil {
		return nil, err
	}
	if n := len(overdue.Items); n > 0 {
		add("wait", plural(n, "subscription is", "subscriptions are")+" past due: the card failed and is tried again.",
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
func payoutsWait(status payout.AccountStatus) string {
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

// plural counts things: 1 dispute, 2 disputes.
func plural(n int, one, many string) string {
	switch n {
	case 1:
		return "1 " + one
	default:
		return fmt.Sprintf("%d %s", n, many)
	}
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
