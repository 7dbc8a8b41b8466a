package booking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/secret"
	"sundry/ports"
)

// TaskHostMeeting makes, changes or deletes a meeting on a creator's account at a provider; its subject is the room.
const TaskHostMeeting = "meeting.host"

const (
	// purposeConnect derives what comes back from the page on which a creator lets us make meetings.
	purposeConnect = "meeting-account"
	// reconnected bounds how many meetings a new connection makes up for at once; the others follow within
	// refusedPause.
	reconnected = 500
	// refusedPause is the pause before a provider that refuses an account is asked again.
	refusedPause = 15 * time.Minute
	// believed is the number of attempts after which a provider's refusal of an account is believed.
	believed = 3
)

// rooms is the address below which the meetings have theirs that are made on creators' accounts.
func (s *Service) rooms() string { return s.cfg.BaseURL + "/m/" }

// MeetingProviders returns the providers at which meetings can be made on a creator's account here.
func (s *Service) MeetingProviders() []appointment.Provider {
	return slices.DeleteFunc(slices.Clone(appointment.AccountProviders), func(p appointment.Provider) bool {
		return s.deps.MeetingHosts[p] == nil
	})
}

// MeetingAccounts lists a creator's accounts at providers of meetings, without what opens them.
func (s *Service) MeetingAccounts(ctx context.Context, creatorID string) ([]appointment.MeetingAccount, error) {
	all, err := s.deps.Store.Read(ctx).Booking.Accounts.List(ctx, creatorID)
	for i := range all {
		all[i].Token = nil
	}
	return all, err
}

// Consent is the way of a signed-in browser to a provider of meetings and back.
type Consent struct {
	CreatorID string
	// SessionID is the browser's sign-in. The state that the provider sends back serves no other one: a former member
	// must not connect an account of their own.
	SessionID   string
	Provider    appointment.Provider
	RedirectURL string
}

// ConnectURL returns the address of the provider's page on which a creator lets us make meetings. NOT_FOUND where the
// provider is not set up.
func (s *Service) ConnectURL(c Consent) (string, error) {
	host, err := s.meetingHost(c.Provider)
	if err != nil {
		return "", err
	}
	return host.ConsentURL(secret.Derive(s.cfg.LinkKeys, purposeConnect, c.CreatorID, c.SessionID), c.RedirectURL), nil
}

func (s *Service) meetingHost(provider appointment.Provider) (ports.MeetingHost, error) {
	if host := s.deps.MeetingHosts[provider]; host != nil {
		return host, nil
	}
	return nil, fault.NotFound("provider of meetings")
}

// ConnectMeetings keeps the account that a creator has opened to us: state and code are those with which the provider
// leads back. Meetings that could not be made before are made now. NOT_FOUND, FORBIDDEN for the state of
// somebody else, STATE_CONFLICT when the provider refuses the code.
func (s *Service) ConnectMeetings(ctx context.Context, c Consent, state, code string) error {
	creatorID, provider := c.CreatorID, c.Provider
	host, err := s.meetingHost(provider)
	if err != nil {
		return err
	}
	of, ok := secret.Verify(s.cfg.LinkKeys, purposeConnect, id.Creator, state, c.SessionID)
	if !ok || of != creatorID {
		return fault.New(
			fault.Forbidden, "This page was not opened from your dashboard. Connect the account from there.",
		)
	}
	name, access, err := host.Connect(ctx, code, c.RedirectURL)
	if errors.Is(err, ports.ErrMeetingAccess) {
		return fault.Wrap(fault.StateConflict, "The account was not connected: its provider refused. Try again.", err)
	}
	if err != nil {
		return fmt.Errorf("connect %s: %w", provider, err)
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		now := s.deps.Clock.Real()
		if err := r.Booking.Accounts.Put(ctx, appointment.MeetingAccount{
			CreatorID: creatorID, Provider: provider, Name: name, Token: s.deps.Encrypter.Encrypt(access),
			ConnectedAt: now,
			Revision:    now.UnixMilli(), // no older copy of an account that was connected before is written over it
		}); err != nil {
			return err
		}
		if err := s.hostUnmade(ctx, r, creatorID, provider); err != nil {
			return err
		}
		return s.audit(ctx, r, creatorID, "meeting account: "+string(provider))
	})
}

// DisconnectMeetings forgets a creator's account at a provider. Virtual meetings that were to take place there have no
// place until the creator sets another; those that are made stay. NOT_FOUND.
func (s *Service) DisconnectMeetings(ctx context.Context, creatorID string, provider appointment.Provider) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Booking.Reservations.Lock(ctx, creatorID); err != nil { // no meetings are set there meanwhile
			return err
		}
		if _, err := r.Booking.Accounts.Get(ctx, creatorID, provider); err != nil {
			return ports.Missing(err, "meeting account")
		}
		if err := r.Booking.Accounts.Delete(ctx, creatorID, provider); err != nil {
			return err
		}
		setup, err := r.Booking.Scheduling.Get(ctx, creatorID)
		if err != nil {
			return err
		}
		if v := setup.Meetings.Virtual; v != nil && v.Provider == provider {
			setup.Meetings.Virtual = nil
			if err := r.Booking.Scheduling.UpdateMeetings(ctx, creatorID, setup.Meetings); err != nil {
				return err
			}
		}
		return s.audit(ctx, r, creatorID, "meeting account: "+string(provider))
	})
}

// checkConnected refuses, with VALIDATION_FAILED, meetings on an account that the creator has not connected.
func (s *Service) checkConnected(ctx context.Context, r ports.Repos, creatorID string,
	meetings appointment.MeetingSettings) error {
	if meetings.Virtual == nil || !meetings.Virtual.Provider.NeedsAccount() {
		return nil
	}
	_, err := r.Booking.Accounts.Get(ctx, creatorID, meetings.Virtual.Provider)
	if errors.Is(err, ports.ErrNotFound) {
		return fault.Invalid(fault.Detail{Field: "virtual.provider", Code: fault.DetailNotAllowed,
			Message: "Connect your account there first, in the dashboard under Bookings, Hours and meetings."})
	}
	return err
}

// addMeeting keeps the meeting that an appointment has got with its place from b. Those who share the time have it
// already.
func (s *Service) addMeeting(ctx context.Context, r ports.Repos, b appointment.Bookable, a appointment.State) error {
	room, ok := strings.CutPrefix(a.MeetingURL, s.rooms())
	if !ok || a.MeetingURL == b.SharedURL {
		return nil
	}
	m := appointment.NewHostedMeeting(room, b.Meetings.Virtual.Provider, a, s.deps.Clock.Real())
	return r.Booking.Meetings.Insert(ctx, m)
}

// scheduleMeetings has the provider's meetings follow an appointment that has changed. before is as it was, and the
// zero value of a new one.
func (s *Service) scheduleMeetings(ctx context.Context, r ports.Repos, before, a appointment.State) error {
	for _, address := range slices.Compact([]string{a.MeetingURL, before.MeetingURL}) {
		room, ok := strings.CutPrefix(address, s.rooms())
		if !ok {
			continue
		}
		if err := s.scheduleHosting(ctx, r, room); err != nil {
			return err
		}
	}
	return nil
}

// scheduleHosting has the provider asked at once. The tasks are the platform's: a provider follows no account's clock.
func (s *Service) scheduleHosting(ctx context.Context, r ports.Repos, room string) error {
	return r.Tasks.Schedule(ctx, TaskHostMeeting, room, "", s.deps.Clock.Real())
}

// HostMeeting makes, changes or deletes the provider's meeting of a room, so that it fits its appointments. A refusal
// is believed when it is repeated: two tasks that renew the access at once may each refuse the other. While the
// provider refuses the account, it is asked again until the appointments are over. Task TaskHostMeeting.
func (s *Service) HostMeeting(ctx context.Context, t ports.Task) error {
	err := s.followAppointments(ctx, t.Subject, t.Attempts >= believed)
	refused := errors.Is(err, ports.ErrMeetingAccess)
	if err != nil && (!refused || t.Attempts < believed) {
		return err
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if refused {
			return r.Tasks.Postpone(ctx, t, s.deps.Clock.Real().Add(refusedPause))
		}
		return r.Tasks.Done(ctx, t)
	})
}

// followAppointments takes the next step at the provider of a room's meeting. What the provider made is kept at once: a
// crash before that costs a meeting that nobody gets to know. A refusal of the account is kept where believe says so.
func (s *Service) followAppointments(ctx context.Context, room string, believe bool) error {
	r := s.deps.Store.Read(ctx)
	m, err := r.Booking.Meetings.Get(ctx, room)
	if err != nil {
		return err
	}
	all, err := takingPlace(ctx, r, m)
	if err != nil {
		return err
	}
	next, step := m.Next(s.rooms()+room, all)
	if step == appointment.NoStep {
		return nil
	}
	now, err := s.deps.Clock.Now(ctx, m.CreatorID)
	if err != nil {
		return err
	}
	account, err := r.Booking.Accounts.Get(ctx, m.CreatorID, m.Provider)
	host := s.deps.MeetingHosts[m.Provider]
	if errors.Is(err, ports.ErrNotFound) || host == nil || over(m, all, now) {
		return nil // nobody can do anything about it, or nobody needs to
	}
	if err != nil {
		return err
	}
	access, err := s.deps.Encrypter.Decrypt(account.Token)
	if err != nil {
		return fmt.Errorf("open the meeting account of %s: %w", m.CreatorID, err)
	}
	before := string(access)
	made, err := atProvider(ctx, host, &access, next, step)
	if err == nil {
		made.Revision = m.Revision + 1
		err = s.deps.Store.Atomically(context.WithoutCancel(ctx), func(ctx context.Context, r ports.Repos) error {
			return r.Booking.Meetings.Update(ctx, made)
		})
		if errors.Is(err, ports.ErrStale) && made.ProviderID != "" && made.ProviderID != m.ProviderID {
			// Another run has made the meeting meanwhile, so that nobody would get to know of this one.
			_ = host.Delete(context.WithoutCancel(ctx), &access, made)
		}
	}
	refused := errors.Is(err, ports.ErrMeetingAccess)
	if refused && !believe || !refused && string(access) == before && account.FailedAt.IsZero() {
		return err
	}
	if kept := s.keepAccess(ctx, account, access, refused); kept != nil {
		return kept
	}
	return err
}

// over reports whether a meeting, as the provider has it, and the last of its appointments have ended. One whose buyers
// have all moved away has no appointment.
func over(m appointment.HostedMeeting, all []appointment.State, now time.Time) bool {
	return !m.EndsAt.After(now) &&
		!slices.ContainsFunc(all, func(a appointment.State) bool { return a.EndsAt.After(now) })
}

// errRenewed reports that an account was refused with an access that another task has renewed meanwhile.
var errRenewed = errors.New("the access to the meeting account was renewed meanwhile")

// keepAccess keeps what opens an account, and whether the provider refused it. What worked is the newest there is, and
// has what waited for it tried at once; what was refused may be older than what another task has kept meanwhile
// (errRenewed).
func (s *Service) keepAccess(
	ctx context.Context, account appointment.MeetingAccount, access []byte, refused bool,
) error {
	return s.deps.Store.Atomically(context.WithoutCancel(ctx), func(ctx context.Context, r ports.Repos) error {
		now, err := r.Booking.Accounts.Get(ctx, account.CreatorID, account.Provider)
		if errors.Is(err, ports.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if refused && now.Revision != account.Revision {
			return errRenewed
		}
		failed := !now.FailedAt.IsZero()
		now.Token, now.FailedAt = s.deps.Encrypter.Encrypt(access), time.Time{}
		if refused {
			now.FailedAt = s.deps.Clock.Real()
		}
		now.Revision++
		if err := r.Booking.Accounts.Update(ctx, now); err != nil || refused || !failed {
			return err
		}
		return s.hostUnmade(ctx, r, account.CreatorID, account.Provider)
	})
}

// hostUnmade has the meetings made that could not be.
func (s *Service) hostUnmade(
	ctx context.Context, r ports.Repos, creatorID string, provider appointment.Provider,
) error {
	unmade, err := r.Booking.Meetings.ListUnmade(ctx, creatorID, provider, reconnected)
	for _, m := range unmade {
		if err := s.scheduleHosting(ctx, r, m.Room); err != nil {
			return err
		}
	}
	return err
}

// takingPlace lists the appointments of which a meeting may be.
func takingPlace(ctx context.Context, r ports.Repos, m appointment.HostedMeeting) ([]appointment.State, error) {
	if m.GroupID != "" {
		return r.Booking.Appointments.ListByGroup(ctx, m.CreatorID, m.GroupID)
	}
	a, err := r.Booking.Appointments.Get(ctx, m.AppointmentID)
	return []appointment.State{a}, err
}

// atProvider takes a step at the provider. A meeting that its owner deleted there is made again, or is gone as it
// should be.
func atProvider(ctx context.Context, host ports.MeetingHost, access *[]byte, m appointment.HostedMeeting,
	step appointment.MeetingStep) (appointment.HostedMeeting, error) {
	if step == appointment.DeleteMeeting {
		if err := host.Delete(ctx, access, m); err != nil && !errors.Is(err, ports.ErrMeetingGone) {
			return m, err
		}
		return m.Deleted(), nil
	}
	if step == appointment.ChangeMeeting {
		if err := host.Update(ctx, access, m); !errors.Is(err, ports.ErrMeetingGone) {
			return m, err
		}
	}
	return host.Create(ctx, access, m)
}

// JoinedMeeting is a meeting for the page of its room.
type JoinedMeeting struct {
	appointment.HostedMeeting
	// Seller is the seller, as buyers see them; empty once there is a URL.
	Seller identity.Storefront
}

// JoinMeeting returns the meeting of a room while somebody is to meet there; its URL is "" as long as the provider has
// not made it. NOT_FOUND.
func (s *Service) JoinMeeting(ctx context.Context, room string) (j JoinedMeeting, err error) {
	r := s.deps.Store.Read(ctx)
	j.HostedMeeting, err = r.Booking.Meetings.Get(ctx, room)
	if err != nil || j.URL != "" {
		return j, ports.Missing(err, "meeting")
	}
	all, err := takingPlace(ctx, r, j.HostedMeeting)
	if err != nil {
		return j, err
	}
	var step appointment.MeetingStep
	if j.HostedMeeting, step = j.Next(s.rooms()+room, all); step != appointment.MakeMeeting {
		return j, fault.NotFound("meeting")
	}
	j.Seller, err = s.deps.Accounts.Storefront(ctx, r, j.CreatorID)
	return j, err
}
