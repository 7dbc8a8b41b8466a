package identity

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/identity"
)

type secondStepRow struct {
	repo.Revised
	CreatorID      string
	AppSecret      []byte
	AppAddedAt     repo.UnixMillis
	LastStep       int64
	NewAppSecret   []byte
	NewAppAt       repo.UnixMillis
	Recovery       repo.JSONColumn[[][]byte]
	RecoveryMadeAt repo.UnixMillis
	Passkeys       repo.JSONColumn[[]identity.Passkey]
}

// TableName implements gorm's tabler.
func (secondStepRow) TableName() string { return "second_steps" }

func (r secondStepRow) toState() *identity.SecondStep {
	return identity.RestoreSecondStep(identity.SecondStepState{
		UserID: r.ID, CreatorID: r.CreatorID, AppSecret: r.AppSecret, AppAddedAt: time.Time(r.AppAddedAt),
		LastStep: r.LastStep, NewAppSecret: r.NewAppSecret, NewAppAt: time.Time(r.NewAppAt), Recovery: r.Recovery.V,
		RecoveryMadeAt: time.Time(r.RecoveryMadeAt), Passkeys: r.Passkeys.V, Revision: r.Revision,
	})
}

func newSecondStepRow(step *identity.SecondStep) secondStepRow {
	s := step.State()
	return secondStepRow{
		Revised:   repo.Revised{ID: s.UserID, Revision: s.Revision},
		CreatorID: s.CreatorID, AppSecret: s.AppSecret, AppAddedAt: repo.UnixMillis(s.AppAddedAt),
		LastStep: s.LastStep, NewAppSecret: s.NewAppSecret, NewAppAt: repo.UnixMillis(s.NewAppAt),
		Recovery: repo.JSON(s.Recovery), RecoveryMadeAt: repo.UnixMillis(s.RecoveryMadeAt),
		Passkeys: repo.JSON(s.Passkeys),
	}
}

var secondStepMapping = repo.Mapping[secondStepRow, *identity.SecondStep]{
	Name: "second step", NewRow: newSecondStepRow, ToState: secondStepRow.toState,
}

type secondSteps struct {
	repo.ByID[secondStepRow, *identity.SecondStep]
}

// ListOf implements ports.SecondSteps.
func (t secondSteps) ListOf(_ context.Context, creatorID string) ([]*identity.SecondStep, error) {
	return t.FindBy("list second steps of "+creatorID, "creator_id = ?", creatorID)
}

// Delete implements ports.SecondSteps.
func (t secondSteps) Delete(_ context.Context, userID string) error {
	return t.Exec("delete second step of "+userID, "DELETE FROM second_steps WHERE id = ?", userID)
}
