package subscription_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/core/subscription"
)

// situations are the states of the machine: every status, with what else decides about a trigger.
var situations = []struct {
	name string
	now  time.Time
	make func(t *testing.T) *subscription.Subscription
}{
	{"incomplete", started, func(*testing.T) *subscription.Subscription {
		return subscription.New(order(basic), started)
	}},
	{"trialing", started.Add(day), func(t *testing.T) *subscription.Subscription { return begin(t, trial) }},
	{"active", started.Add(day), func(t *testing.T) *subscription.Subscription { return begin(t, basic) }},
	{"active, over", started.Add(40 * day), func(t *testing.T) *subscription.Subscription { return begin(t, basic) }},
	{"ending", started.Add(day), ending},
	{"ending, over", started.Add(40 * day), ending},
	{"charging", started.Add(40 * day), func(t *testing.T) *subscription.Subscription {
		sub := begin(t, basic)
		charge(t, sub, "pay_1", started.Add(40*day))
		return sub
	}},
	{"past due", started.Add(40 * day), func(t *testing.T) *subscription.Subscription {
		sub := begin(t, basic)
		decline(t, sub, "card_declined", sub.State().CurrentPeriodEnd)
		return sub
	}},
	{"given up", started.Add(40 * day), func(t *testing.T) *subscription.Subscription {
		sub := begin(t, basic)
		decline(t, sub, "stolen_card", sub.State().CurrentPeriodEnd)
		return sub
	}},
	{"changing", started.Add(2 * day), func(t *testing.T) *subscription.Subscription {
		sub := begin(t, basic)
		bill, err := sub.ChangeBill(pro, subscription.ChargeNow, started.Add(day))
		return charging(t, sub, bill, err)
	}},
	{"paused", started.Add(2 * day), paused},
	{"paused, over", started.Add(40 * day), paused},
	{"resuming", started.Add(41 * day), func(t *testing.T) *subscription.Subscription {
		sub := paused(t)
		bill, err := sub.ResumeBill(started.Add(40 * day))
		return charging(t, sub, bill, err)
	}},
	{"canceled", started.Add(2 * day), func(t *testing.T) *subscription.Subscription {
		sub := begin(t, basic)
		if _, err := sub.Cancel(subscription.CancelRequested, started.Add(day)); err != nil {
			t.Fatal(err)
		}
		return sub
	}},
	{"expired", started.Add(60 * day), func(t *testing.T) *subscription.Subscription {
		sub := begin(t, basic)
		decline(t, sub, "stolen_card", sub.State().CurrentPeriodEnd)
		if _, err := sub.Expire(started.Add(50 * day)); err != nil {
			t.Fatal(err)
		}
		return sub
	}},
}

// charging awaits the outcome of a bill's charge.
func charging(t *testing.T, sub *subscription.Subscription, bill subscription.Bill,
	err error) *subscription.Subscription {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.StartCharge("pay_1", bill); err != nil {
		t.Fatal(err)
	}
	return sub
}

func ending(t *testing.T) *subscription.Subscription {
	sub := begin(t, basic)
	if _, err := sub.CancelAtPeriodEnd(subscription.CancelRequested, started.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	return sub
}

func paused(t *testing.T) *subscription.Subscription {
	sub := begin(t, basic)
	if _, err := sub.Pause(started.Add(day)); err != nil {
		t.Fatal(err)
	}
	return sub
}

// triggers are everything that can be asked of a subscription. Each returns its event, nil for none.
var triggers = []struct {
	name string
	pull func(sub *subscription.Subscription, now time.Time) (subscription.Transition, error)
}{
	{"activate", func(sub *subscription.Subscription, now time.Time) (subscription.Transition, error) {
		return sub.Activate(now)
	}},
	{"renew", func(sub *subscription.Subscription, now time.Time) (subscription.Transition, error) {
		bill, err := sub.NextBill(now)
		if err != nil {
			return nil, err
		}
		return sub.Apply(bill)
	}},
	{"paid", func(sub *subscription.Subscription, _ time.Time) (subscription.Transition, error) {
		return sub.Paid("pay_1")
	}},
	{"declined", func(sub *subscription.Subscription, now time.Time) (subscription.Transition, error) {
		return sub.Declined("pay_1", payment.DeclineReason{Code: "card_declined"}, now)
	}},
	{"unsent", func(sub *subscription.Subscription, _ time.Time) (subscription.Transition, error) {
		return nil, sub.ChargeNotSent("pay_1")
	}},
	{"expire", func(sub *subscription.Subscription, now time.Time) (subscription.Transition, error) {
		return sub.Expire(now)
	}},
	{"end", func(sub *subscription.Subscription, now time.Time) (subscription.Transition, error) {
		return sub.End(now)
	}},
	{"cancel", func(sub *subscription.Subscription, now time.Time) (subscription.Transition, error) {
		return sub.Cancel(subscription.CancelRequested, now)
	}},
	{"cancel later", func(sub *subscription.Subscription, now time.Time) (subscription.Transition, error) {
		return sub.CancelAtPeriodEnd(subscription.CancelRequested, now)
	}},
	{"pause", func(sub *subscription.Subscription, now time.Time) (subscription.Transition, error) {
		return sub.Pause(now)
	}},
	{"resume", func(sub *subscription.Subscription, now time.Time) (subscription.Transition, error) {
		return sub.Resume(now)
	}},
	{"pay to resume", func(sub *subscription.Subscription, now time.Time) (subscription.Transition, error) {
		bill, err := sub.ResumeBill(now)
		if err != nil {
			return nil, err
		}
		return sub.Apply(bill)
	}},
	{"change", func(sub *subscription.Subscription, now time.Time) (subscription.Transition, error) {
		bill, err := sub.ChangeBill(pro, subscription.ChargeNow, now)
		if err != nil {
			return nil, err
		}
		return sub.Apply(bill)
	}},
	{"change later", func(sub *subscription.Subscription, _ time.Time) (subscription.Transition, error) {
		return sub.PlanFor(pro)
	}},
	{"new card", func(sub *subscription.Subscription, _ time.Time) (subscription.Transition, error) {
		e, _, err := sub.UseCard("pm_2")
		return e, err
	}},
	{"same card", func(sub *subscription.Subscription, _ time.Time) (subscription.Transition, error) {
		_, changed, err := sub.UseCard("pm_1")
		if changed {
			panic("the same card is no change")
		}
		return nil, err
	}},
}

// machine is the whole machine, as docs/architecture/subscriptions.md draws it: the result of each trigger in each
// situation. A word is the event and after the slash the status; "-" is refused and changes nothing; "=" is accepted
// and emits nothing.
const machine = `
               activate        renew           paid            declined         unsent    expire          end              cancel           cancel-later               pause           resume            pay-to-resume  change          change-later    new-card          same-card
incomplete     created/active  -               -               -                -         -               -                -                -                          -               -                 -              -               -               -                 -
trialing       -               -               -               -                -         -               -                canceled/canceled cancel_scheduled/trialing updated/paused  -                 -              renewed/active   updated/trialing updated/trialing =/trialing
active         -               -               -               -                -         -               -                canceled/canceled cancel_scheduled/active   updated/paused  -                 -              updated/active  updated/active  updated/active    =/active
active,over    -               renewed/active  -               -                -         -               -                canceled/canceled cancel_scheduled/active   updated/paused  -                 -              updated/active  updated/active  updated/active    =/active
ending         -               -               -               -                -         -               -                canceled/canceled =/active                  -               updated/active    -              -               -               updated/active    =/active
ending,over    -               -               -               -                -         -               canceled/canceled canceled/canceled =/active                 -               updated/active    -              -               -               updated/active    =/active
charging       -               -               renewed/active  dunning/past_due =/active  -               -                canceled/canceled canceled/canceled         -               -                 -              -               -               updated/active    =/active
past-due       -               renewed/active  -               -                -         -               -                canceled/canceled canceled/canceled         -               -                 -              -               -               updated/past_due  =/past_due
given-up       -               renewed/active  -               -                -         expired/expired -                canceled/canceled canceled/canceled         -               -                 -              -               -               updated/past_due  =/past_due
changing       -               -               updated/active  =/active         =/active  -               -                canceled/canceled cancel_scheduled/active   -               -                 -              -               -               updated/active    =/active
paused         -               -               -               -                -         -               -                canceled/canceled cancel_scheduled/paused   -               updated/active    -              -               -               updated/paused    =/paused
paused,over    -               -               -               -                -         -               -                canceled/canceled canceled/canceled         -               -                 renewed/active -               -               updated/paused    =/paused
resuming       -               -               renewed/active  =/paused         =/paused  -               -                canceled/canceled canceled/canceled         -               -                 -              -               -               updated/paused    =/paused
canceled       -               -               -               -                -         -               -                -                -                          -               -                 -              -               -               -                 -
expired        -               -               -               -                -         -               -                -                -                          -               -                 -              -               -               -                 -
`

func TestEveryTriggerInEveryStateDoesWhatIsDrawn(t *testing.T) {
	t.Parallel()
	rows := strings.Split(strings.TrimSpace(machine), "\n")
	if len(rows) != len(situations)+1 {
		t.Fatalf("%d rows for %d situations", len(rows)-1, len(situations))
	}
	for i, situation := range situations {
		cells := strings.Fields(rows[i+1])
		if len(cells) != len(triggers)+1 || strings.ReplaceAll(situation.name, " ", "") != strings.ReplaceAll(cells[0], "-",
			"") {
			t.Fatalf("row %q does not draw %q", rows[i+1], situation.name)
		}
		for j, trigger := range triggers {
			t.Run(situation.name+" on "+trigger.name, func(t *testing.T) {
				t.Parallel()
				sub := situation.make(t)
				check(t, sub, cells[j+1], func() (subscription.Transition, error) { return trigger.pull(sub, situation.now) })
			})
		}
	}
}

// check pulls a trigger and compares with what is drawn.
func check(t *testing.T, sub *subscription.Subscription, drawn string, pull func() (subscription.Transition, error)) {
	t.Helper()
	before := sub.State()
	event, err := pull()
	after := sub.State()
	if drawn == "-" {
		if err == nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("not refused: %v, %+v", event, after)
		}
		if f := fault.CodeOf(err); f != fault.StateConflict && f != fault.Internal {
			t.Errorf("refused with %v", err)
		}
		return
	}
	name, status, _ := strings.Cut(drawn, "/")
	switch {
	case err != nil:
		t.Fatalf("refused: %v", err)
	case string(after.Status) != status:
		t.Errorf("is %s, drawn %s", after.Status, status)
	case name == "=" && (event != nil || after.Revision > before.Revision+1):
		t.Errorf("emitted %v", event)
	case name != "=" && (event.EventName() != "subscription."+name || after.Revision != before.Revision+1):
		t.Errorf("emitted %s at revision %d", event.EventName(), after.Revision)
	}
	if after.Status.Terminal() == after.EndedAt.IsZero() {
		t.Errorf("%s, ended at %s", after.Status, after.EndedAt)
	}
}

func TestAccessLastsWhileItIsPaidForAndThroughTheGrace(t *testing.T) {
	t.Parallel()
	for _, situation := range situations {
		s := situation.make(t).State()
		want := s.Status == subscription.StatusTrialing || s.Status == subscription.StatusActive
		if s.Status == subscription.StatusPastDue {
			if !s.GivesAccess(s.Dunning.GraceEndsAt.Add(-1)) || s.GivesAccess(s.Dunning.GraceEndsAt) {
				t.Errorf("%s: access does not end with the grace", situation.name)
			}
			continue
		}
		if got := s.GivesAccess(situation.now); got != want {
			t.Errorf("%s gives access: %v", situation.name, got)
		}
	}
}

func TestOnlyTheLastTwoStatusesAreTerminal(t *testing.T) {
	t.Parallel()
	for i, status := range subscription.Statuses() {
		if status.Terminal() != (i >= 5) {
			t.Errorf("%s terminal: %v", status, status.Terminal())
		}
	}
}
