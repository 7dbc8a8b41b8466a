package appointment

import (
	"testing"
	"time"

	"sundry/core/fault"
)

func TestEveryStateOfAClaimAnswersEveryTrigger(t *testing.T) {
	t.Parallel()
	triggers := map[string]func(*Claim) error{"confirm": (*Claim).Confirm, "release": (*Claim).Release, "cancel": (*Claim).Cancel}
	for _, c := range []struct {
		from    ClaimStatus
		trigger string
		to      ClaimStatus // "" = refused
	}{
		{Held, "confirm", Confirmed}, {Held, "release", Released}, {Held, "cancel", ""},
		{Confirmed, "confirm", Confirmed}, {Confirmed, "release", ""}, {Confirmed, "cancel", ClaimOfCanceled},
		{Released, "confirm", ""}, {Released, "release", Released}, {Released, "cancel", ""},
		{ClaimOfCanceled, "confirm", ""}, {ClaimOfCanceled, "release", ""}, {ClaimOfCanceled, "cancel", ClaimOfCanceled},
	} {
		before := ClaimState{ID: "clm_1", Status: c.from, Revision: 3}
		claim := RestoreClaim(before)
		err := triggers[c.trigger](claim)
		after := claim.State()
		switch {
		case c.to == "" && (!fault.Is(err, fault.StateConflict) || after != before):
			t.Errorf("%s a %s claim: %v, %+v", c.trigger, c.from, err, after)
		case c.to == c.from && (err != nil || after != before):
			t.Errorf("%s a %s claim again: %v, %+v", c.trigger, c.from, err, after)
		case c.to != "" && c.to != c.from && (err != nil || after.Status != c.to || after.Revision != 4):
			t.Errorf("%s a %s claim: %v, %+v", c.trigger, c.from, err, after)
		}
		if live := c.from == Held || c.from == Confirmed; c.from.Live() != live {
			t.Errorf("%s keeps the time: %v", c.from, !live)
		}
	}
}

func TestAClaimAgainIsANewOneOnTheSameTime(t *testing.T) {
	t.Parallel()
	now := instant(t, "2026-06-15T10:00:00Z")
	old := ClaimState{ID: "clm_1", Status: Released, StartsAt: now.Add(time.Hour), Position: 2, Revision: 2}
	next := RestoreClaim(old).Again("clm_2", now).State()
	if next.ID != "clm_2" || next.Status != Held || next.Revision != 1 || !next.StartsAt.Equal(old.StartsAt) || next.Position != 2 || !next.CreatedAt.Equal(now) {
		t.Errorf("%+v", next)
	}
}
