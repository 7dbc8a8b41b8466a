package cli

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"sundry/core/money"
	"sundry/core/quota"
	"sundry/modules/operator"
	"sundry/ports"
)

const adminUsage = `usage: sundry admin accounts [TEXT]
       sundry admin suspend EMAIL REASON
       sundry admin resume EMAIL REASON
       sundry admin limits EMAIL [NAME=VALUE …]
       sundry admin invite EMAIL
       sundry admin reset-second-step EMAIL REASON
       sundry admin audit [EMAIL]

accounts  lists the accounts whose address, name or id contains TEXT: when each was made, its state, its listings and
          what buyers have paid
suspend   refuses sign-ins, new sales and changes with the account's keys; what was sold goes on
resume    ends that
limits    shows the names of the limits with the account's values, or sets them: a whole number, none, or default
invite    prints a link with which the owner of the address makes an account, once, within 14 days, where SIGN_UPS is
          invite or open; programs send what follows its last slash as "invitation" to POST /v1/auth/sign-up
reset-second-step
          turns off two-step sign-in for the owner or the member who has this address, ends their sign-ins and mails
          them; make sure first who asks
audit     lists what operators did with these commands, newest first`

func adminRow() command {
	return command{
		name: "admin", needs: theApp, parse: parseAdmin, help: text(adminUsage),
		lines: []line{
			{"accounts [TEXT]", "list accounts with their state and sales"},
			{"suspend|resume EMAIL REASON", "stop an account's sign-ins, keys and new sales, or let it go on"},
			{"limits EMAIL [NAME=VALUE …]", "show or set what an account may use (admin --help)"},
			{"invite EMAIL", "print a link with which the owner of an address makes an account"},
			{"reset-second-step EMAIL REASON", "let somebody in who has lost their second step"},
			{"audit [EMAIL]", "list what operators did"},
		},
	}
}

func parseAdmin(args []string) (action, error) {
	if len(args) == 0 {
		return nil, errors.New(adminUsage)
	}
	malformed := fmt.Errorf("unknown command or wrong arguments: %q\n\n%s", strings.Join(args, " "), adminUsage)
	name, args := args[0], args[1:]
	switch {
	case name == "accounts" && len(args) <= 1:
		return func(ctx context.Context, c call) error { return listAccounts(ctx, c, strings.Join(args, "")) }, nil
	case name == "audit" && len(args) <= 1:
		return func(ctx context.Context, c call) error { return listActions(ctx, c, strings.Join(args, "")) }, nil
	case (name == "suspend" || name == "resume") && len(args) >= 2:
		return decideStanding(name, args[0], strings.Join(args[1:], " ")), nil
	case name == "reset-second-step" && len(args) >= 2:
		return resetSecondStep(args[0], strings.Join(args[1:], " ")), nil
	case name == "invite" && len(args) == 1:
		return func(ctx context.Context, c call) error {
			page, err := c.app.Accounts.Invite(ctx, operatorName(), args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.Out, page)
			return err
		}, nil
	case name == "limits" && len(args) >= 1:
		return parseLimits(args[0], args[1:])
	}
	return nil, malformed
}

// operatorName is the name under which a command runs, for the record.
func operatorName() string {
	current, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return current.Username
}

// namedAccount returns the id of the account with an e-mail address.
func namedAccount(ctx context.Context, app *App, address string) (string, error) {
	if address == "" {
		return "", errors.New("name an account by its e-mail address")
	}
	return accountID(ctx, app, address)
}

func decideStanding(name, address, reason string) action {
	return func(ctx context.Context, c call) error {
		id, err := namedAccount(ctx, c.app, address)
		if err != nil {
			return err
		}
		decide, done := c.app.Operator.Suspend, "suspended"
		if name == "resume" {
			decide, done = c.app.Operator.Resume, "not suspended"
		}
		if err := decide(ctx, operator.By{Operator: operatorName(), Reason: reason}, id); err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.Out, "%s (%s) is %s. Every process knows within two seconds.\n", address, id, done)
		return err
	}
}

func resetSecondStep(address, reason string) action {
	return func(ctx context.Context, c call) error {
		err := c.app.Accounts.ResetSecondStep(ctx, operatorName(), address, reason)
		if errors.Is(err, ports.ErrNotFound) {
			return fmt.Errorf("nobody signs in with the e-mail address %s", address)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.Out, "Two-step sign-in of %s is off. Every sign-in of theirs has ended.\n", address)
		return err
	}
}

func parseLimits(address string, args []string) (action, error) {
	overrides, faults := make([]quota.Override, len(args)), make([]error, len(args))
	for i, arg := range args {
		overrides[i], faults[i] = quota.ParseOverride(arg)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return func(ctx context.Context, c call) error {
		id, err := namedAccount(ctx, c.app, address)
		if err != nil {
			return err
		}
		if len(overrides) > 0 {
			if err := c.app.Operator.SetLimits(ctx, operatorName(), id, overrides); err != nil {
				return err
			}
		}
		return showLimits(ctx, c, id)
	}, nil
}

func showLimits(ctx context.Context, c call, id string) error {
	limits, err := c.app.Operator.Limits(ctx, id)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(c.Out, 0, 0, 3, ' ', 0)
	for _, l := range limits {
		value, per, own := "none", "", "default"
		if l.Value > 0 {
			value = strconv.FormatInt(l.Value, 10)
		}
		if l.PerMinute {
			per = "a minute"
		}
		if l.Own {
			own = "set"
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", l.Resource, value, per, own) // Flush returns its errors
	}
	return out.Flush()
}

func listAccounts(ctx context.Context, c call, filter string) error {
	out := tabwriter.NewWriter(c.Out, 0, 0, 3, ' ', 0)
	for page := (ports.Page{Limit: 100}); ; {
		list, err := c.app.Operator.Accounts(ctx, filter, page)
		if err != nil {
			return err
		}
		for _, a := range list.Items {
			state := "open"
			if !a.SuspendedAt.IsZero() {
				state = "suspended " + day(a.SuspendedAt) + ": " + a.SuspensionReason
			}
			_, _ = fmt.Fprintf(out, "%s\t%s\t%s\tlistings: %d\t%s\t%s\n", a.ID, a.Email, day(a.CreatedAt), a.Listings,
				sales(a.Sales), state)
		}
		if page.After = list.Next; page.After == (ports.Cursor{}) {
			return out.Flush()
		}
	}
}

func sales(all []money.Amount) string {
	if len(all) == 0 {
		return "no sales"
	}
	texts := make([]string, len(all))
	for i, amount := range all {
		texts[i] = strings.ToUpper(amount.Coded())
	}
	return strings.Join(texts, ", ")
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func listActions(ctx context.Context, c call, address string) error {
	var id string
	if address != "" {
		var err error
		if id, err = namedAccount(ctx, c.app, address); err != nil {
			return err
		}
	}
	out := tabwriter.NewWriter(c.Out, 0, 0, 3, ' ', 0)
	for page := (ports.Page{Limit: 100}); ; {
		list, err := c.app.Operator.Actions(ctx, id, page)
		if err != nil {
			return err
		}
		for _, a := range list.Items {
			_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", a.At.UTC().Format(time.RFC3339), a.Operator, a.Kind, a.CreatorID,
				a.Note)
		}
		if page.After = list.Next; page.After == (ports.Cursor{}) {
			return out.Flush()
		}
	}
}
