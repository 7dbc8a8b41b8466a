package browser

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"sundry/tests/harness"
)

// TestADisputeIsAnsweredWithAFile uploads, deletes and sends files by the forms of the page, without its script.
func TestADisputeIsAnsweredWithAFile(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pay(s.session(s.book, nil), harness.CardDisputed).Want(t, http.StatusOK)
	at := "/dashboard/disputes/" + s.first("/v1/disputes")
	b := s.atDashboard()
	b.scripts(false)
	b.open(s.URL + at)
	b.sees("Collected evidence")
	if height := eval[float64](b, `document.querySelector("#evidence-text").getBoundingClientRect().height`); height < 150 {
		t.Errorf("the field for eight lines is %.0f px high", height)
	}
	upload := func(name, content string) {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		b.do("choose a file", chromedp.SetUploadFiles(chromedp.CSS("#dispute-file-file"), []string{path}))
		b.click("#dispute-file .primary")
	}
	upload("notes.txt", "They came.")
	b.sees("Banks take PDF, PNG and JPEG files")
	b.expectConsole("400")
	b.open(s.URL + at)
	upload("a-conversation-with-the-buyer-about-the-lesson-that-they-attended.pdf", "%PDF-1.4 one")
	b.sees("The file is uploaded.")
	upload("other.pdf", "%PDF-1.4 two")
	b.sees("other.pdf")
	b.scripts(true)
	b.open(s.URL + at)
	b.accessible("a dispute with files")
	b.scripts(false)
	b.open(s.URL + at)
	b.click(`form[action$="/delete"] button`)
	b.sees("The file is deleted.")
	b.fill("#evidence-text", "winning_evidence")
	b.click("#evidence .primary")
	b.sees("Your evidence is sent.")
	b.sees("This went to the bank with your response.")
	b.scripts(true)
	b.open(s.URL + at)
	b.accessible("a dispute with evidence")
}

func TestALongTitleFitsAPhoneInTheDashboard(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pay(s.session(s.Published(t, harness.JSON{"title": longTitle}), nil), harness.CardDisputed).Want(t, http.StatusOK)
	b := s.atDashboard()
	b.click(`.languages [value="fr"]`)
	b.wait(`document.readyState !== "loading" && document.documentElement.lang.startsWith("fr")`)
	b.size(345, 800)
	for _, path := range []string{"/dashboard/disputes/" + s.first("/v1/disputes"), "/dashboard/orders"} {
		b.open(s.URL + path)
		b.fits(path)
	}
	b.size(1280, 800)
	b.open(s.URL + "/dashboard/orders")
	b.fits("the orders on a computer")
}
