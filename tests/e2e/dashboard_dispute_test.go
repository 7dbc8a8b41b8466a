package e2e_test

import (
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestEvidence_InTheDashboard(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		id, receipt := w.dispute(t, w.book(t, 2000))
		at := "/dashboard/disputes/" + id
		v := w.Visit(t)
		page := v.Open(t, at).Body
		for _, want := range []string{"Collected evidence", text(t, receipt["receiptNumber"]), "Purchase",
			`enctype="multipart/form-data"`, at + "/evidence.pdf"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page shows no %q", want)
			}
		}
		if page := v.Upload(t, at+"/files", "file", []byte("a text")); page.Status != 400 ||
			!strings.Contains(page.Body, "Banks take PDF, PNG and JPEG files") {
			t.Errorf("a text is %d: %s", page.Status, page.Body)
		}
		v.Open(t, at)
		if page := v.Upload(t, at+"/files", "file", somePDF); page.Path != at ||
			!strings.Contains(page.Body, "The file is uploaded.") {
			t.Fatalf("the upload led to %d %s", page.Status, page.Path)
		}
		first := shownFile.FindString(v.Page.Body)
		if body := v.Open(t, at+"/files/"+first).Body; body != string(somePDF) {
			t.Errorf("the creator got %q", body)
		}
		if pdf := v.Open(t, at+"/evidence.pdf"); !strings.HasPrefix(pdf.Body, "%PDF-") {
			t.Errorf("the PDF is %d, %.20q", pdf.Status, pdf.Body)
		}
		v.Open(t, at)
		if page := v.Send(t, at+"/files/"+first+"/delete"); !strings.Contains(page.Body, "The file is deleted.") ||
			strings.Contains(page.Body, first) {
			t.Errorf("deleting led to %d %s", page.Status, page.Path)
		}
		sent, kept := w.disputeFile(t, id, "sent.pdf"), w.disputeFile(t, id, "kept.pdf")
		v.Open(t, at)
		if page := v.Send(t, at+"/evidence", "text", "", "file-"+sent, "yes"); page.Status != 400 ||
			!strings.Contains(page.Body, "Describe what was sold") || !strings.Contains(page.Body, "Send sent.pdf") {
			t.Errorf("without words: %d", page.Status)
		}
		v.Open(t, at)
		page = v.Send(t, at+"/evidence", "text", "winning_evidence", "file-"+sent, "yes").Body
		if !strings.Contains(page, "Your evidence is sent.") || strings.Contains(page, at+"/files/"+kept+"/delete") ||
			!strings.Contains(page, "This went to the bank") {
			t.Errorf("responding led to %s: %s", v.Page.Path, page)
		}
		d := w.AsBackend(t, get, "/v1/disputes/"+id, nil).Want(t, 200).Map(t)
		if ids := asJSON(t, d["evidence"].(map[string]any)["fileIds"]); d["status"] != "won" ||
			ids != asJSON(t, []string{sent}) {
			t.Errorf("%v", d)
		}
		if page := app.NewAccount(t).Visit(t).Open(t, at+"/files/"+sent); page.Status != 404 {
			t.Errorf("another account got %d", page.Status)
		}
	})
}
