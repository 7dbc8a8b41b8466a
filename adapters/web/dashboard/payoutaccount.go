package dashboard

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/core/country"
	"sundry/core/payout"
	"sundry/modules/treasury"
)

// stripeOnboarding is where Stripe's page is, to which the form about a payout account redirects.
const stripeOnboarding = "https://connect.stripe.com"

var payoutAccountTones = map[payout.AccountStatus]cell{
	payout.AccountNone: badge("Not set up", "wait"), payout.AccountPending: badge("Not ready yet", "wait"),
	payout.AccountReady: badge("Ready", "ok"), payout.AccountRestricted: badge("Restricted", "bad"),
}

func (r *Routes) mountPayoutAccount(at fiber.Router) {
	r.post(at, "/balance/account", r.openPayoutAccount)
	r.get(at, "/balance/account/done", r.payoutAccountDone)
}

// payoutAccountParts show where payouts go, and lead to Stripe.
func payoutAccountParts(v *visit, a payout.AccountState) []part {
	all := []fact{{"Status", payoutAccountTones[a.Status]}}
	if a.Country != "" {
		all = append(all, fact{"Country", text(country.Name(a.Country, v.reader.Language))})
	}
	if a.ID != "" {
		all = append(all, fact{"Stripe account", copied(a.ID)})
	}
	if due := requirementNames(a.RequirementsDue); due != "" {
		all = append(all, fact{"Still needed", text(due)})
	}
	if a.DisabledReason != "" {
		all = append(all, fact{"Why", text(requirementName(a.DisabledReason))})
	}
	shown := facts("Payout account", all...)
	shown.Anchor = "payout-account"
	switch {
	case a.ID == "" && a.Status == payout.AccountReady:
		shown.Lead = "In the sandbox payouts arrive at once, without a bank account."
	case a.Status == payout.AccountNone, a.DisabledReason == payout.Disconnected:
		shown.Lead = "Set it up at Stripe to be paid out. What you earn stays in your balance until then."
		return []part{shown, formPart(payoutAccountForm(v))}
	case a.Status == payout.AccountReady:
		shown.Actions = []action{v.button("Change at Stripe", base+"/balance/account")}
	case a.Status == payout.AccountPending:
		shown.Lead = "Stripe needs your details, or is still checking them. Payouts wait until then."
		shown.Actions = []action{v.button("Continue at Stripe", base+"/balance/account")}
	default:
		shown.Lead = "Stripe pays nothing out until this is settled. Payouts wait."
		shown.Actions = []action{v.button("Settle it at Stripe", base+"/balance/account")}
	}
	return []part{shown}
}

// payoutAccountForm asks for what has to be known before Stripe's page.
func payoutAccountForm(v *visit) form {
	options := []option{{Value: "", Label: "Choose"}}
	for _, one := range country.List(v.reader.Language) {
		options = append(options, option{Value: one.Code, Label: one.Name})
	}
	return v.form("payout-account-form", base+"/balance/account", "Continue to Stripe", field{
		Name: "country", Label: "Country", Type: "select", Options: options, Required: true,
		Hint: "Where you are, or where your business is registered. It can’t be changed later.",
	})
}

// openPayoutAccount leads to Stripe.
func (r *Routes) openPayoutAccount(c *fiber.Ctx, v *visit) error {
	opened, err := r.Treasury.OpenAccountSession(c.UserContext(), v.account(), treasury.AccountRequest{Country: read(c).text("country")})
	if err != nil {
		return r.refused(c, base+"/balance", err)
	}
	return layout.SeeOther(c, opened.URL)
}

// payoutAccountDone is where Stripe leads back to: the visit alone proves nothing, so Stripe is asked.
func (r *Routes) payoutAccountDone(c *fiber.Ctx, v *visit) error {
	a, err := r.Treasury.VisitEnded(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	if a.CanReceive() {
		return r.done(c, base+"/balance", "Your payout account is ready.")
	}
	return layout.SeeOther(c, base+"/balance#payout-account")
}

// requirementNames are what Stripe still needs, in words.
func requirementNames(all []string) string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = requirementName(one)
	}
	return strings.Join(names, ", ")
}

// requirementName makes words of Stripe's name: individual.verification.document is "individual: verification: document".
func requirementName(name string) string {
	return strings.NewReplacer(".", ": ", "_", " ").Replace(name)
}
