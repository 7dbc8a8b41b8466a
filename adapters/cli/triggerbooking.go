package cli

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"sundry/core/apiformat"
	"sundry/core/intake"
	"sundry/core/listingtype"
)

// listed holds the members of a listing that trigger reads.
type listed struct {
	ID       string
	Type     listingtype.Type
	Metadata struct {
		BufferBeforeMinutes, BufferAfterMinutes int
		Questions                               []intake.Question
	}
	Variants []struct {
		VariantID    string
		SessionCount int
	}
}

// sessions returns the number of times that a buyer of the variant chooses.
func (l listed) sessions(variantID string) int {
	for _, v := range l.Variants {
		if v.VariantID == variantID {
			return v.SessionCount
		}
	}
	return 1
}

// buffer returns the time between two sessions of a pack.
func (l listed) buffer() time.Duration {
	return time.Duration(l.Metadata.BufferBeforeMinutes+l.Metadata.BufferAfterMinutes) * time.Minute
}

// answers returns an answer to each question that must have one.
func (l listed) answers() map[string]string {
	given := map[string]string{}
	for _, q := range l.Metadata.Questions {
		switch {
		case !q.Required:
		case q.Type == intake.Checkbox:
			given[q.Key] = "true"
		case q.Type == intake.Select:
			given[q.Key] = q.Options[0]
		case q.Type == intake.Phone:
			given[q.Key] = "+353 1 234 5678"
		default:
			given[q.Key] = "sundry trigger"
		}
	}
	return given
}

// calendar holds the open times of a listing in the next 30 days.
type calendar struct {
	Timezone      string
	DeliveryModes []string
	Days          []calendarDay
}

type calendarDay struct {
	Slots []struct{ StartsAt, EndsAt time.Time }
}

func (t *trigger) calendar(ctx context.Context, listingID, variantID string) (open calendar, err error) {
	from, err := t.now(ctx)
	if err != nil {
		return open, err
	}
	query := url.Values{"from": {from.Format(time.DateOnly)}, "to": {from.AddDate(0, 0, 30).Format(time.DateOnly)}}
	if variantID != "" {
		query.Set("variantId", variantID)
	}
	err = t.get(ctx, "/v1/listings/"+listingID+"/slots/range?"+query.Encode(), &open)
	open.Days = slices.DeleteFunc(open.Days, func(day calendarDay) bool {
		return len(day.Slots) == 0 || len(open.DeliveryModes) == 0
	})
	return open, err
}

// slots chooses as many open times of an appointment listing as its variant has sessions, other than the one that is
// booked: a group is still open then. Times of one day keep the listing's buffers.
func (t *trigger) slots(ctx context.Context, l listed, variantID, booked string) ([]object, error) {
	open, err := t.calendar(ctx, l.ID, variantID)
	if err != nil {
		return nil, err
	}
	wanted := l.sessions(variantID)
	// Times spread over the days stay below the listing's limit per day.
	perDay := (wanted + len(open.Days) - 1) / max(len(open.Days), 1)
	var chosen []object
	var free time.Time
	for _, day := range open.Days {
		today := 0
		for _, slot := range day.Slots {
			start := apiformat.Instant(slot.StartsAt)
			if today == perDay || len(chosen) == wanted || slot.StartsAt.Before(free) || start == booked {
				continue
			}
			today, free = today+1, slot.EndsAt.Add(l.buffer())
			chosen = append(chosen, object{
				"startsAt": start, "timezone": open.Timezone, "deliveryMode": open.DeliveryModes[0],
			})
		}
	}
	if len(chosen) < wanted {
		return nil, fmt.Errorf("the listing has open times for %d of %d sessions in the next 30 days", len(chosen), wanted)
	}
	return chosen, nil
}

func (t *trigger) book(ctx context.Context) error {
	_, err := t.appointment(ctx)
	return err
}

// appointment books one and returns its path.
func (t *trigger) appointment(ctx context.Context) (path string, err error) {
	r, err := t.buy(ctx, cardPays, listingtype.Type.Bookable)
	if err != nil {
		return "", err
	}
	return "/v1/appointments/" + r.Appointments[0].ID, nil
}

func (t *trigger) reschedule(ctx context.Context) error {
	path, err := t.appointment(ctx)
	if err != nil {
		return err
	}
	var booked struct{ ListingID, VariantID, StartsAt string }
	if err := t.get(ctx, path, &booked); err != nil {
		return err
	}
	open, err := t.slots(ctx, listed{ID: booked.ListingID}, booked.VariantID, booked.StartsAt)
	if err != nil {
		return err
	}
	return t.post(ctx, path+"/reschedule", object{"appointmentSlot": open[0]}, nil)
}

func (t *trigger) attend(ctx context.Context) error {
	path, err := t.appointment(ctx)
	if err != nil {
		return err
	}
	var booked struct{ StartsAt time.Time }
	if err := t.get(ctx, path, &booked); err != nil {
		return err
	}
	if err := t.advanceTo(ctx, booked.StartsAt); err != nil {
		return err
	}
	return t.post(ctx, path+"/outcome", object{"outcome": "completed"}, nil)
}

func (t *trigger) cancelAppointment(ctx context.Context) error {
	path, err := t.appointment(ctx)
	if err != nil {
		return err
	}
	return t.post(ctx, path+"/cancel", object{"reason": "sundry trigger"}, nil)
}
