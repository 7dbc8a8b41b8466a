package e2e_test

import (
	"encoding/base64"
	"fmt"
	"path"
	"strings"
	"testing"

	"sundry/core/id"
	"sundry/core/identity"
	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// TestCells_AllThatIsMadeNamesItsCell sells a subscription in a cell, and reads every id that the database then holds,
// whatever its table.
func TestCells_AllThatIsMadeNamesItsCell(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		const cell = id.Cell(777)
		app := harness.New(t, engine, map[string]string{"CELL": fmt.Sprint(cell)})
		w := newFixture(t, app)
		w.endpoint(t)
		w.endpoint(t)
		session := w.NewSession(t, w.listing, "pro", "ada", nil)
		w.Pay(t, session, harness.CardSucceeds)
		var link struct{ URL string }
		w.AsCreator(t, post, "/v1/payment-links", harness.JSON{"listingId": w.listing.ID}).Want(t, 201).Into(t, &link)

		want := id.New(id.Creator, bodyIn(cell))[14:16]
		for what, text := range map[string]string{
			"the secret of a session": session.Secret()[10:12], "the code of a payment link": path.Base(link.URL)[:2],
			"a refresh token": strings.TrimPrefix(w.RefreshToken, "rt_")[10:12],
		} {
			if text != want {
				t.Errorf("%s names the cell as %s, want %s", what, text, want)
			}
		}
		if got, ok := identity.KeyCell(w.Key); !ok || got != cell {
			t.Errorf("an API key is of cell %d, %t", got, ok)
		}
		claims, err := base64.RawURLEncoding.DecodeString(strings.Split(w.Token, ".")[1])
		if err != nil || !strings.Contains(string(claims), fmt.Sprintf(`"cell":%d`, cell)) {
			t.Errorf("an access token has the claims %s, %v", claims, err)
		}
		if opened := app.AskUnjudged(t, harness.Request{Method: get, Path: pathOf(t, link.URL)}); opened.Status != 303 {
			t.Errorf("the payment link responds %d", opened.Status)
		}
		kinds := map[string]bool{}
		for _, made := range app.StoredIDs(t) {
			if got, ok := id.CellOf(made); !ok || got != cell {
				t.Errorf("%s is of cell %d, %t; want %d", made, got, ok, cell)
			}
			kind, _, _ := strings.Cut(made, "_")
			kinds[kind] = true
		}
		if len(kinds) < 15 {
			t.Errorf("ids of %v alone were read", kinds)
		}
	})
}

// bodyIn is the value of an id of a cell.
func bodyIn(cell id.Cell) (body [16]byte) {
	cell.Mark(body[6:])
	return body
}
