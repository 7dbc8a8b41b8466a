package dashboard

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/country"
	"sundry/core/payout"
	"sundry/modules/treasury"
)

var payoutAccountTones = map[payout.AccountStatus]ui.Cell{
	payout.AccountNone: ui.Badge("Not set up", "wait"), payout.AccountPending: ui.Badge("Not ready yet", "wait"),
	payout.AccountReady: ui.Badge("Ready", "ok"), payout.AccountRestricted: ui.Badge("Restricted", "bad"),
}

func (r *Routes) mountPayoutAccount(at fiber.Router) {
	r.careful(at, "/balance/account", r.openPayoutAccount)
	r.get(at, "/balance/account/done", r.payoutAccountDone)
}

// payoutAccountParts show the account that receives payouts, and link to the provider that pays out.
func payoutAccountParts(v *visit, a payout.AccountState, provider string) []ui.Part {
	all := []ui.Fact{{Label: "Status", Value: payoutAccountTones[a.Status]}}
	if a.Country != "" {
		all = append(all, ui.Fact{Label: "Country", Value: ui.Text(country.Name(a.Country, v.reader.Language))})
	}
	if a.ID != "" {
		all = append(all, ui.Fact{Label: v.say("%s account", provider), Value: ui.Copyable(a.ID)})
	}
	if due := requirementNames(a.RequirementsDue); due != "" {
		all = append(all, ui.Fact{Label: "Still needed", Value: ui.Text(due)})
	}
	if a.DisabledReason != "" {
		all = append(all, ui.Fact{Label: "Reason", Value: ui.Text(requirementName(a.DisabledReason))})
	}
	shown := ui.Facts("Payout account", all...)
	shown.Anchor = "payout-account"
	switch {
	case a.ID == "" && a.Status == payout.AccountReady:
		shown.Lead = "In the sandbox payouts arrive at once, without a bank account."
	case a.Status == payout.AccountNone, a.DisabledReason == payout.Disconnected:
		shown.Lead = v.say("Set it up at %s to be paid out. What you earn stays in your balance until then.", provider)
		return []ui.Part{shown, ui.FormPart(payoutAccountForm(v, provider))}
	case a.Status == payout.AccountReady:
		shown.Actions = []ui.Action{v.button(v.say("Change at %s", provider), base+"/balance/account")}
	case a.Status == payout.AccountPending:
		shown.Lead = v.say("%s needs your details, or is still checking them. Payouts wait until then.", provider)
		shown.Actions = []ui.Action{v.button(v.say("Continue at %s", provider), base+"/balance/account")}
	default:
		shown.Lead = v.say("%s pays nothing out until this is settled. Payouts wait.", provider)
		shown.Actions = []ui.Action{v.button(v.say("Settle it at %s", provider), base+"/balance/account")}
	}
	return []ui.Part{shown}
}

// payoutAccountForm asks for the details that are needed before the provider's page.
func payoutAccountForm(v *visit, provider string) ui.Form {
	options := []ui.Option{{Value: "", Label: "Choose"}}
	for _, one := range country.List(v.reader.Language) {
		options = append(options, ui.Option{Value: one.Code, Label: ui.Data(one.Name)})
	}
	return v.form("payout-account-form", base+"/balance/account", v.say("Continue to %s", provider), ui.Field{
		Name: "country", Label: "Country", Type: "select", Options: options, Required: true,
		Hint: "Where you are, or where your business is registered. It can’t be changed later.",
	})
}

// openPayoutAccount redirects to the provider that pays out.
func (r *Routes) openPayoutAccount(c *fiber.Ctx, v *visit) error {
	opened, err := r.Treasury.OpenAccountSession(c.UserContext(), v.account(), treasury.AccountRequest{
		Country: ui.ReadInput(c).Text("country"),
	})
	if err != nil {
		return r.refused(c, base+"/balance", err)
	}
	return layout.SeeOther(c, opened.URL)
}

// payoutAccountDone receives creators back from the provider. The visit alone proves nothing, so the provider is asked.
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

// requirementNames names what the provider still needs.
func requirementNames(all []string) string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = requirementName(one)
	}
	return strings.Join(names, ", ")
}

// requirementName makes words of the provider's name, such as Stripe's: individual.verification.document is
// "individual: verification: document".
func requirementName(name string) string {
	return strings.NewReplacer(".", ": ", "_", " ").Replace(name)
}
