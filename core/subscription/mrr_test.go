package subscription_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
)

func TestMRRIsThePriceOfAMonth(t *testing.T) {
	t.Parallel()
	running := func(minor int64, interval period.Interval, count int) subscription.State {
		offer := plan.Offer{Interval: interval, IntervalCount: count, Price: money.Amount{Minor: minor, Currency: "eur"}}
		return subscription.State{
			Status: subscription.StatusActive, Offer: offer, CurrentPeriodStart: started,
			CurrentPeriodEnd: started.Add(30 * day),
		}
	}
	with := func(s subscription.State, change func(s *subscription.State)) subscription.State {
		change(&s)
		return s
	}
	month := running(1000, period.Month, 1)
	for name, c := range map[string]struct {
		state subscription.State
		want  int64
	}{
		"a month":           {month, 1000},
		"a quarter":         {running(1000, period.Month, 3), 333},
		"half a cent is up": {running(3, period.Month, 2), 2},
		"a year":            {running(11990, period.Year, 1), 999},
		"two years":         {running(24000, period.Year, 2), 1000},
		"a week":            {running(300, period.Week, 1), 1300},
		"a day":             {running(120, period.Day, 1), 3650},
		"nothing":           {running(0, period.Month, 1), 0},
		"beyond an integer": {running(math.MaxInt64, period.Day, 1), 0},
		"no interval":       {running(1000, "", 0), 0},
		"past due":          {with(month, func(s *subscription.State) { s.Status = subscription.StatusPastDue }), 1000},
		"paused":            {with(month, func(s *subscription.State) { s.Status = subscription.StatusPaused }), 0},
		"on trial":          {with(month, func(s *subscription.State) { s.Status = subscription.StatusTrialing }), 0},
		"over":              {with(month, func(s *subscription.State) { s.Status = subscription.StatusCanceled }), 0},
		"past due with the first charge": {with(month, func(s *subscription.State) {
			s.Status, s.TrialEndsAt = subscription.StatusPastDue, s.CurrentPeriodEnd
		}), 0},
		"with a discount": {with(month, func(s *subscription.State) {
			s.Discount = &subscription.Discount{PercentOff: 25}
		}), 750},
		"with an uncountable discount": {with(month, func(s *subscription.State) {
			s.Discount = &subscription.Discount{PercentOff: math.MaxInt}
		}), 0},
		"with a discount that has ended": {with(month, func(s *subscription.State) {
			s.Discount = &subscription.Discount{PercentOff: 25, EndsAt: started}
		}), 1000},
	} {
		if got := c.state.MRR(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// moves writes movements shortly.
func moves(all []subscription.Movement) string {
	var words []string
	for _, m := range all {
		words = append(words, fmt.Sprintf("%d %s %+d", m.N, m.Kind, m.Minor))
	}
	return strings.Join(words, ", ")
}

func TestMovementsFollowALife(t *testing.T) {
	t.Parallel()
	type step func(s *subscription.State)
	status := func(to subscription.Status) step { return func(s *subscription.State) { s.Status = to } }
	priced := func(minor int64) step { return func(s *subscription.State) { s.Offer.Price.Minor = minor } }
	paid := func(s *subscription.State) {
		s.Status, s.CurrentPeriodEnd = subscription.StatusActive, s.CurrentPeriodEnd.Add(30*day)
	}
	for name, c := range map[string]struct {
		steps []step
		want  string
	}{
		"a trial that is paid for": {[]step{status(subscription.StatusTrialing), paid},
			"1 trial_started +0, 2 trial_converted +0, 3 new +1000"},
		"a trial that is canceled": {[]step{status(subscription.StatusTrialing), status(subscription.StatusCanceled)},
			"1 trial_started +0, 2 trial_lost +0"},
		"a trial whose card fails": {[]step{status(subscription.StatusTrialing), status(subscription.StatusPastDue),
			status(subscription.StatusExpired)}, "1 trial_started +0, 2 trial_lost +0"},
		"a trial that is paused": {[]step{status(subscription.StatusTrialing), status(subscription.StatusPaused),
			status(subscription.StatusTrialing), paid}, "1 trial_started +0, 2 trial_converted +0, 3 new +1000"},
		"more and less": {[]step{paid, priced(1500), priced(1500), priced(400)},
			"1 new +1000, 2 expansion +500, 3 contraction -1100"},
		"a pause": {[]step{paid, status(subscription.StatusPaused), status(subscription.StatusActive)},
			"1 new +1000, 2 churn -1000, 3 reactivation +1000"},
		"a pause of a cent's price": {[]step{priced(1), paid, status(subscription.StatusPaused),
			status(subscription.StatusActive)}, "1 new +1, 2 churn -1, 3 reactivation +1"},
		"given up": {[]step{paid, status(subscription.StatusPastDue), status(subscription.StatusExpired)},
			"1 new +1000, 2 churn -1000"},
		"free, then paid for": {[]step{priced(0), paid, priced(300)}, "1 new +300"},
	} {
		state := subscription.State{
			Status: subscription.StatusIncomplete, CurrentPeriodStart: started, CurrentPeriodEnd: started.Add(14 * day),
			TrialEndsAt: started.Add(14 * day), Offer: plan.Offer{
				Interval: period.Month, IntervalCount: 1, Price: money.Amount{Minor: 1000, Currency: "eur"},
			},
		}
		for i, change := range c.steps {
			change(&state)
			sub := subscription.Restore(state)
			if before := sub.State().LastMovement; sub.Moved() {
				sub.Move(started.Add(time.Duration(i) * day))
				if state = sub.State(); state.LastMovement == before {
					t.Errorf("%s: step %d moved and left no movement", name, i)
				}
			}
			if sub.Moved() {
				t.Errorf("%s: step %d still moves", name, i)
			}
		}
		if got := moves(state.Movements); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := moves(state.Unrolled(-1)); got != c.want {
			t.Errorf("%s: unrolled %s, want %s", name, got, c.want)
		}
		sum := int64(0)
		for _, m := range state.Unrolled(-1) {
			sum += m.Minor
		}
		if sum != state.MRR() {
			t.Errorf("%s: movements sum to %d, the MRR is %d", name, sum, state.MRR())
		}
	}
}

func TestMovementsBeginWithWhatWasBefore(t *testing.T) {
	t.Parallel()
	state := subscription.State{StartedAt: started, Counted: subscription.Counted{MRR: 700, Ever: true}}
	if got := moves(state.Unrolled(-1)); got != "0 new +700" || moves(state.Unrolled(0)) != "" {
		t.Errorf("of a running one: %s", got)
	}
	cent := subscription.State{Counted: subscription.Counted{MRR: 1, Ever: true}}
	if got := moves(cent.Unrolled(-1)); got != "0 new +1" {
		t.Errorf("of one that brings a cent: %s", got)
	}
	lost := subscription.State{Movements: []subscription.Movement{{N: 1, Kind: subscription.TrialLost}}}
	if got := moves(lost.Unrolled(-1)); got != "1 trial_lost +0, 0 trial_started +0" {
		t.Errorf("of a trial that began before and was lost: %s", got)
	}
	state.Movements = []subscription.Movement{{N: 1, Kind: subscription.TrialConverted}, {N: 2, Kind: subscription.NewRevenue,
		Minor: 700}}
	if got := moves(state.Unrolled(-1)); got != "1 trial_converted +0, 2 new +700, 0 trial_started +0" {
		t.Errorf("of a trial that began before: %s", got)
	}
	if got := moves(state.Unrolled(1)); got != "2 new +700" {
		t.Errorf("after the first: %s", got)
	}
}

func TestMove_RemembersTheLatestHundred(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	for n := range 101 {
		s := sub.State()
		s.Offer.Price.Minor = int64(1000 + n)
		sub = subscription.Restore(s)
		sub.Move(started)
	}
	s := sub.State()
	if n := len(s.Movements); n != 100 || s.Movements[0].N != 2 || s.Movements[99].N != 101 || s.LastMovement != 101 {
		t.Errorf("%d movements up to %d: %s", n, s.LastMovement, moves(s.Movements))
	}
	if got := s.Unrolled(-1); len(got) != 100 || got[0].N != 2 {
		t.Errorf("of those before the hundred it makes up %s", moves(got[100:]))
	}
	sub.Move(started)
	if !slices.Equal(sub.State().Movements, s.Movements) {
		t.Error("a move of nothing is a movement")
	}
	s.Status = subscription.StatusPaused
	sub = subscription.Restore(s)
	sub.Move(started)
	churned := sub.State().LastMovement
	if sub.Move(started); sub.State().LastMovement != churned {
		t.Errorf("what brings nothing any more moved: %s", moves(sub.State().Movements[99:]))
	}
}

func TestNewCounted_IsWhatASubscriptionBrings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  subscription.Status
		onTrial bool
		want    subscription.Counted
	}{
		"running":  {subscription.StatusActive, false, subscription.Counted{MRR: 1, Ever: true}},
		"on trial": {subscription.StatusTrialing, true, subscription.Counted{Trial: true}},
		"over":     {subscription.StatusCanceled, false, subscription.Counted{}},
	} {
		state := subscription.State{Status: c.status, Offer: offer("cent", 1, period.Month, 1, 0),
			CurrentPeriodStart: started, CurrentPeriodEnd: started.Add(14 * day)}
		if c.onTrial {
			state.TrialEndsAt = state.CurrentPeriodEnd
		}
		got := subscription.NewCounted(state)
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if state.Counted = got; subscription.Restore(state).Moved() {
			t.Errorf("%s: it has moved although it was just counted", name)
		}
	}
}
