package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"sundry/tests/harness"
)

// reads checks what a page says, and does not say.
func reads(t *testing.T, page *harness.Page, want, not string) {
	t.Helper()
	if !strings.Contains(page.Body, want) {
		t.Errorf("%s lacks %q: %s", page.Path, want, page.Body)
	}
	if strings.Contains(page.Body, not) {
		t.Errorf("%s has %q", page.Path, not)
	}
}

func TestTheDashboardSpeaksTheChosenLanguage(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		v := a.Visit(t)
		reads(t, v.Page, `<html lang="en">`, "Bestellungen")
		page := v.Send(t, "/dashboard/language", "language", "de", "back", "/dashboard/listings?status=DRAFT")
		if page.Path != "/dashboard/listings?status=DRAFT" {
			t.Errorf("the choice led to %s", page.Path)
		}
		reads(t, page, `<html lang="de">`, "Listings")
		reads(t, page, "Angebote", "Search everything")
		reads(t, v.Post(t, "/dashboard/language", "language", "xx", "back", "//evil.example"), `<html lang="de">`, "Home")
		if v.Page.Path != "/dashboard" {
			t.Errorf("an address of another site led to %s", v.Page.Path)
		}
		reads(t, v.Post(t, "/dashboard/language", "language", "fr"), `<html lang="fr">`, "Bestellungen")
		refused := app.AskUnjudged(t, harness.Request{
			Method: http.MethodPost, Path: "/dashboard/language", Body: "language=de",
			Headers: map[string]string{"Sec-Fetch-Site": "cross-site", "Content-Type": "application/x-www-form-urlencoded"},
		}).Want(t, http.StatusForbidden)
		if cookie := refused.Header.Get("Set-Cookie"); cookie != "" {
			t.Errorf("another site set %s", cookie)
		}
	})
}

// What people wrote is shown as they wrote it, and files are for programs.
func TestOnlyOurOwnTextsAreTranslated(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		a.Published(t, harness.JSON{"title": "Everything", "priceInCents": 123456})
		v := a.Visit(t)
		v.Post(t, "/dashboard/language", "language", "de")
		page := v.Open(t, "/dashboard/listings")
		reads(t, page, ">Everything</a>", ">Alles</a>")
		reads(t, page, ">Veröffentlicht</span>", ">Published</span>")
		reads(t, page, "1.234,56\u00a0€", "1,234.56")
		file := v.Open(t, "/dashboard/listings?format=csv")
		reads(t, file, "Listing,Kind,Price,Status,Updated\nEverything,Download,1234.56 eur,Published,", "Angebot")
	})
}

func TestRefusalsAreInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		v := a.Visit(t)
		v.Post(t, "/dashboard/language", "language", "fr")
		v.Open(t, "/dashboard/discounts/new")
		page := v.Send(t, "/dashboard/discounts/new", "code", "", "percentOff", "101", "duration", "once", "amount", "x",
			"currency", "eur")
		if page.Status != 400 {
			t.Errorf("a refused code is %d", page.Status)
		}
		reads(t, page, "Vérifiez les champs signalés.", "Check the highlighted fields.")
		reads(t, page, "Un montant comme 29,00 est attendu, avec 2 décimales au plus.", "Expected an amount")
		reads(t, page, "Un code a de 1 à 50 lettres, chiffres, tirets et tirets bas.", "A code has")
		reads(t, v.Open(t, "/dashboard/discounts"), "Aucun code de remise", "No discount codes")
		v.Open(t, "/dashboard/listings")
		reads(t, v.Post(t, "/dashboard/listings/archive", "token", v.Token(t)),
			"0 offre archivée.", "0 offres") // French counts none as one
	})
}
