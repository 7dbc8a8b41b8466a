// Package operator keeps what operators decide about accounts.
package operator

import (
	"context"
	"strings"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/operator"
	"sundry/core/quota"
	"sundry/ports"
)

// Repositories returns the area's repositories over the connection of b.
func Repositories(b *repo.Base) ports.OperatorRepos {
	return ports.OperatorRepos{Accounts: accounts{b}, Limits: limits{b}, Actions: actions{b}}
}

type accountRow struct {
	repo.Unrevised
	Email            string
	DisplayName      string
	CreatedAt        repo.UnixMillis
	SuspendedAt      repo.UnixMillis
	SuspensionReason string
	Listings         int64
}

func (r accountRow) toState() operator.Account {
	return operator.Account{
		ID: r.ID, Email: r.Email, DisplayName: r.DisplayName, CreatedAt: time.Time(r.CreatedAt),
		SuspendedAt: time.Time(r.SuspendedAt), SuspensionReason: r.SuspensionReason, Listings: r.Listings,
	}
}

type accounts struct{ *repo.Base }

// List implements ports.Accounts.
func (t accounts) List(
	_ context.Context, text string, page ports.Page,
) (ports.List[operator.Account], error) {
	query := t.DB.Table("creators").Select("id, email, display_name, created_at, suspended_at, suspension_reason, " +
		"(SELECT COUNT(*) FROM listings l WHERE l.creator_id = creators.id AND l.status <> 'ARCHIVED') AS listings")
	if text != "" {
		like := repo.Containing(strings.ToLower(text))
		query = query.Where(`id = ? OR email LIKE ? ESCAPE '\' OR LOWER(display_name) LIKE ? ESCAPE '\'`, text, like, like)
	}
	list, err := repo.ListByID(t.Base, "list accounts", query, page, accountRow.toState)
	if err != nil || len(list.Items) == 0 {
		return list, err
	}
	return list, t.addSales(list.Items)
}

// addSales adds up what the buyers of the accounts have paid.
func (t accounts) addSales(all []operator.Account) error {
	at, ids := map[string]int{}, make([]string, len(all))
	for i, account := range all {
		at[account.ID], ids[i] = i, account.ID
	}
	var sums []struct {
		CreatorID, Currency string
		Paid                int64
	}
	err := t.DB.Raw("SELECT creator_id, currency, CAST(SUM(amount) AS BIGINT) AS paid FROM payments "+
		"WHERE status = 'succeeded' AND creator_id IN ? GROUP BY creator_id, currency ORDER BY creator_id, currency", ids).
		Scan(&sums).Error
	for _, sum := range sums {
		sales := &all[at[sum.CreatorID]].Sales
		*sales = append(*sales, repo.Amount(sum.Paid, sum.Currency))
	}
	return t.Failure("sum up the sales of accounts", err)
}

type limits struct{ *repo.Base }

// List implements ports.AccountLimits.
func (t limits) List(_ context.Context, creatorID string) (map[quota.Resource]int64, error) {
	type limit struct {
		of    quota.Resource
		value int64
	}
	found, err := repo.QueryRows(t.Base, "limits of "+creatorID,
		"SELECT resource, value FROM account_limits WHERE creator_id = ?", []any{creatorID},
		func(row repo.Scanner) (l limit, err error) {
			err = row.Scan(&l.of, &l.value)
			return l, err
		})
	all := make(map[quota.Resource]int64, len(found))
	for _, l := range found {
		all[l.of] = l.value
	}
	return all, err
}

// Set implements ports.AccountLimits.
func (t limits) Set(_ context.Context, creatorID string, of quota.Resource, value int64) error {
	return t.Exec("set a limit of "+creatorID, "INSERT INTO account_limits (creator_id, resource, value) VALUES (?, ?, ?) "+
		"ON CONFLICT (creator_id, resource) DO UPDATE SET value = excluded.value", creatorID, string(of), value)
}

// Delete implements ports.AccountLimits.
func (t limits) Delete(_ context.Context, creatorID string, of quota.Resource) error {
	return t.Exec("delete a limit of "+creatorID, "DELETE FROM account_limits WHERE creator_id = ? AND resource = ?",
		creatorID, string(of))
}

// Lock implements ports.AccountLimits.
func (t limits) Lock(_ context.Context, creatorID string, of quota.Resource) error {
	return t.AdvisoryLock("lock the limit of "+creatorID, string(of)+"\x00"+creatorID)
}

type actionRow struct {
	repo.Unrevised
	Operator  string
	Kind      string
	CreatorID string
	Note      string
	At        repo.UnixMillis
}

// TableName implements gorm's tabler.
func (actionRow) TableName() string { return "operator_actions" }

func (r actionRow) toState() operator.Action {
	return operator.Action{ID: r.ID, Operator: r.Operator, Kind: operator.Kind(r.Kind), CreatorID: r.CreatorID,
		Note: r.Note, At: time.Time(r.At)}
}

type actions struct{ *repo.Base }

// Insert implements ports.OperatorActions.
func (t actions) Insert(_ context.Context, a operator.Action) error {
	return t.InsertRow("insert operator action "+a.ID, &actionRow{
		Unrevised: repo.Unrevised{ID: a.ID}, Operator: a.Operator, Kind: string(a.Kind), CreatorID: a.CreatorID,
		Note: repo.SanitizeText(a.Note, len(a.Note)), At: repo.UnixMillis(a.At),
	})
}

// List implements ports.OperatorActions.
func (t actions) List(
	_ context.Context, creatorID string, page ports.Page,
) (ports.List[operator.Action], error) {
	query := repo.Equal(t.DB, map[string]string{"creator_id": creatorID})
	return repo.ListByID(t.Base, "list operator actions", query, page, actionRow.toState)
}
