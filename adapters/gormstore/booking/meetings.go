package booking

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"sundry/adapters/gormstore/repo"
	"sundry/core/appointment"
	"sundry/ports"
)

type hostedMeetingRow struct {
	repo.Revised
	CreatorID     string
	Provider      string
	AppointmentID string
	GroupID       string
	ProviderID    string
	URL           string
	Title         string
	StartsAt      repo.UnixMillis
	EndsAt        repo.UnixMillis
	CreatedAt     repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (hostedMeetingRow) TableName() string { return "hosted_meetings" }

func newHostedMeetingRow(m appointment.HostedMeeting) hostedMeetingRow {
	return hostedMeetingRow{
		Revised:   repo.Revised{ID: m.Room, Revision: m.Revision},
		CreatorID: m.CreatorID, Provider: string(m.Provider), AppointmentID: m.AppointmentID,
		GroupID: m.GroupID, ProviderID: m.ProviderID, URL: m.URL, Title: m.Title, StartsAt: repo.UnixMillis(m.StartsAt),
		EndsAt: repo.UnixMillis(m.EndsAt), CreatedAt: repo.UnixMillis(m.CreatedAt),
	}
}

func (r hostedMeetingRow) toState() appointment.HostedMeeting {
	return appointment.HostedMeeting{
		Room: r.ID, CreatorID: r.CreatorID, Provider: appointment.Provider(r.Provider), AppointmentID: r.AppointmentID,
		GroupID: r.GroupID, ProviderID: r.ProviderID, URL: r.URL, Title: r.Title, StartsAt: time.Time(r.StartsAt),
		EndsAt: time.Time(r.EndsAt), CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	}
}

var hostedMeetingMapping = repo.Mapping[hostedMeetingRow, appointment.HostedMeeting]{
	Name: "hosted meeting", NewRow: newHostedMeetingRow, ToState: hostedMeetingRow.toState,
}

type hostedMeetings struct {
	repo.ByID[hostedMeetingRow, appointment.HostedMeeting]
}

// ListUnmade implements ports.HostedMeetings.
func (t hostedMeetings) ListUnmade(_ context.Context, creatorID string, provider appointment.Provider, limit int) (
	[]appointment.HostedMeeting, error) {
	return t.ListBy("list unmade meetings of "+creatorID,
		t.DB.Where("creator_id = ? AND provider = ? AND provider_id = ''", creatorID, string(provider)).
			Order("created_at DESC").Limit(limit))
}

type meetingAccountRow struct {
	CreatorID   string `gorm:"primaryKey"`
	Provider    string `gorm:"primaryKey"`
	Name        string
	Token       []byte
	ConnectedAt repo.UnixMillis
	FailedAt    repo.UnixMillis
	Revision    int64
}

// TableName implements gorm's tabler.
func (meetingAccountRow) TableName() string { return "meeting_accounts" }

func (r meetingAccountRow) toState() appointment.MeetingAccount {
	return appointment.MeetingAccount{
		CreatorID: r.CreatorID, Provider: appointment.Provider(r.Provider), Name: r.Name, Token: r.Token,
		ConnectedAt: time.Time(r.ConnectedAt), FailedAt: time.Time(r.FailedAt), Revision: r.Revision,
	}
}

type meetingAccounts struct{ *repo.Base }

const ofAccount = "creator_id = ? AND provider = ?"

// Put implements ports.MeetingAccounts.
func (t meetingAccounts) Put(_ context.Context, a appointment.MeetingAccount) error {
	row := meetingAccountRow{a.CreatorID, string(a.Provider), a.Name, a.Token, repo.UnixMillis(a.ConnectedAt),
		repo.UnixMillis(a.FailedAt), a.Revision}
	upsert := clause.OnConflict{Columns: []clause.Column{{Name: "creator_id"}, {Name: "provider"}}, UpdateAll: true}
	return t.Failure("put meeting account of "+a.CreatorID, t.DB.Clauses(upsert).Create(&row).Error)
}

// Get implements ports.MeetingAccounts.
func (t meetingAccounts) Get(_ context.Context, creatorID string, provider appointment.Provider) (
	appointment.MeetingAccount, error) {
	row, err := repo.TakeOne[meetingAccountRow](t.Base, "get meeting account of "+creatorID, ofAccount, creatorID,
		string(provider))
	return row.toState(), err
}

// Update implements ports.MeetingAccounts.
func (t meetingAccounts) Update(_ context.Context, a appointment.MeetingAccount) error {
	return t.ExecChanged("update meeting account of "+a.CreatorID, ports.ErrStale,
		"UPDATE meeting_accounts SET name = ?, token = ?, failed_at = ?, revision = ? WHERE "+ofAccount+
			" AND revision = ?",
		a.Name, a.Token, repo.UnixMillis(a.FailedAt), a.Revision, a.CreatorID, string(a.Provider), a.Revision-1)
}

// List implements ports.MeetingAccounts.
func (t meetingAccounts) List(_ context.Context, creatorID string) ([]appointment.MeetingAccount, error) {
	return repo.ListBy(t.Base, "list meeting accounts of "+creatorID,
		t.DB.Where("creator_id = ?", creatorID).Order("provider"), meetingAccountRow.toState)
}

// Delete implements ports.MeetingAccounts.
func (t meetingAccounts) Delete(_ context.Context, creatorID string, provider appointment.Provider) error {
	return t.Exec("delete meeting account of "+creatorID, "DELETE FROM meeting_accounts WHERE "+ofAccount, creatorID,
		string(provider))
}
