package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sundry/core/dispute"
	"sundry/tests/harness"
	"sundry/tests/stripefake"
)

// The files of the tests: each begins as its type does.
var (
	somePDF  = []byte("%PDF-1.4 a conversation")
	somePNG  = []byte("\x89PNG\r\n\x1a\na picture")
	someJPEG = []byte("\xff\xd8\xffa photo")
)

// sendFile uploads a file for the bank.
func sendFile(t *testing.T, a *harness.Account, disputeID, name string, content []byte) *harness.Response {
	t.Helper()
	return a.Ask(t, harness.Request{
		Method: post, Path: "/v1/disputes/" + disputeID + "/files?name=" + name, Body: content, Bearer: a.Key,
		Headers: map[string]string{"Content-Type": "application/octet-stream"},
	})
}

// disputeFile uploads a file for the bank and returns its id.
func (w *fixture) disputeFile(t *testing.T, disputeID, name string) string {
	t.Helper()
	return text(t, sendFile(t, w.Account, disputeID, name, somePDF).Want(t, 201).Map(t)["id"])
}

// disputed is a sale of a download that the buyer has downloaded, mailed about and taken to their bank.
func (s stripeShop) disputed(t *testing.T) (disputeID, processorID string, receipt harness.JSON) {
	t.Helper()
	s.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{"refundPolicy": "Money back for a month."}).Want(t, 200)
	listing := s.Published(t, harness.JSON{"priceInCents": 2000, "currency": "eur", "title": "Field guide"})
	fileID := uploaded(t, s.Account, listing, "guide.pdf", somePDF, nil)
	session := s.NewSession(t, listing, "default", "user-1", nil)
	s.submit(t, session, stripefake.Succeeds).Want(t, 200)
	receipt = s.Receipt(t, session)
	address := text(t, receipt["receiptUrl"])
	if got := s.app.NewVisitor(t).Open(t, address[strings.Index(address, "/r/"):]+"/files/"+fileID); got.Status != 200 {
		t.Fatalf("the download is %d", got.Status)
	}
	processorID = s.fake.Dispute(text(t, receipt["paymentId"]), 2000)
	s.event(t, "evt_1", "charge.dispute.created", map[string]any{"id": processorID}).Want(t, 200)
	known := func() []any {
		return s.AsBackend(t, get, "/v1/disputes?paymentId="+text(t, receipt["paymentId"]), nil).
			Want(t, 200).Map(t)["data"].([]any)
	}
	harness.Eventually(t, "the dispute is known", func() bool { return len(known()) == 1 })
	return text(t, known()[0].(map[string]any)["id"]), processorID, receipt
}

// Everything that the program knows is collected, and reaches Stripe with the creator's files although it is away when
// the response is sent.
func TestEvidence_FromTheSaleToStripe(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		id, processorID, receipt := s.disputed(t)
		at := "/v1/disputes/" + id
		var got dispute.Collected
		harness.Eventually(t, "the receipt is mailed", func() bool {
			s.AsBackend(t, get, at+"/evidence", nil).Want(t, 200).Into(t, &got)
			return len(got.Mails) > 0 && !got.Mails[len(got.Mails)-1].SentAt.IsZero()
		})
		s.wantCollected(t, got, receipt)
		words := string(s.AsBackend(t, get, at+"/evidence?format=text", nil).Want(t, 200).Body)
		for _, want := range []string{"Field guide", "guide.pdf: 1 times", "ada@example.com", "Money back for a month."} {
			if !strings.Contains(words, want) {
				t.Errorf("the text has no %q:\n%s", want, words)
			}
		}
		if pdf := s.AsBackend(t, get, at+"/evidence?format=pdf", nil).Want(t, 200); !strings.HasPrefix(string(pdf.Body),
			"%PDF-") {
			t.Errorf("the PDF begins with %.20q", pdf.Body)
		}

		chat := text(t, sendFile(t, s.Account, id, "chat.pdf", somePDF).Want(t, 201).Map(t)["id"])
		room := text(t, sendFile(t, s.Account, id, "room.png", somePNG).Want(t, 201).Map(t)["id"])
		s.fake.Fail("POST /v1/files", stripefake.Failure{Status: 503, Times: 1})
		d := s.AsBackend(t, post, at+"/evidence", harness.JSON{"text": "They came.", "fileIds": []string{room, chat}}).
			Want(t, 200).Map(t)
		if d["status"] != "needs_response" || s.fake.Count("POST /v1/disputes") != 0 {
			t.Fatalf("while Stripe is away: %v", d)
		}
		sendFile(t, s.Account, id, "more.pdf", somePDF).Refuses(t, 409, "STATE_CONFLICT")
		s.AsBackend(t, http.MethodDelete, at+"/files/"+chat, nil).Refuses(t, 409, "STATE_CONFLICT")
		s.AsBackend(t, post, "/v1/sandbox/clock/advance", harness.JSON{"seconds": 600}).Want(t, 200)
		harness.Eventually(t, "the evidence arrives", func() bool {
			return s.AsBackend(t, get, at, nil).Want(t, 200).Map(t)["status"] == "under_review"
		})
		sent := s.fake.Evidence(processorID)
		for member, want := range map[string]string{
			"uncategorized_text": "They came.", "uncategorized_file": string(somePNG),
			"service_documentation": string(somePDF), "customer_email_address": "ada@example.com",
			"customer_purchase_ip": "127.0.0.1", "billing_address": "IE",
		} {
			if sent[member] != want {
				t.Errorf("Stripe got %s %q, want %q", member, sent[member], want)
			}
		}
		if !strings.HasPrefix(sent["receipt"], "%PDF-") || !strings.Contains(sent["access_activity_log"], "guide.pdf") ||
			!strings.Contains(sent["refund_policy_disclosure"], "Money back for a month.") {
			t.Errorf("Stripe got %q", sent)
		}
		if n := s.fake.Count("POST /v1/disputes"); n != 1 {
			t.Errorf("submitted %d times", n)
		}
		var kept dispute.Collected
		s.AsBackend(t, get, at+"/evidence", nil).Want(t, 200).Into(t, &kept)
		if kept.CollectedAt.Before(got.CollectedAt.Time) || len(kept.Downloads) != 1 {
			t.Errorf("kept %+v", kept)
		}
		again := string(s.AsBackend(t, get, at+"/evidence", nil).Want(t, 200).Body)
		s.AsBackend(t, post, "/v1/sandbox/clock/advance", harness.JSON{"seconds": 60}).Want(t, 200)
		if later := string(s.AsBackend(t, get, at+"/evidence", nil).Want(t, 200).Body); later != again {
			t.Errorf("what was sent has changed: %s, it was %s", later, again)
		}
	})
}

// A file that Stripe refuses would be missing in the response, so its creator is told while they can choose another.
func TestEvidence_AFileThatStripeRefuses(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		id, processorID, _ := s.disputed(t)
		at := "/v1/disputes/" + id
		s.fake.Fail("POST /v1/files", stripefake.Failure{Status: 400, Times: 1})
		sendFile(t, s.Account, id, "locked.pdf", somePDF).Refuses(t, 400, "VALIDATION_FAILED", "file")
		if files := s.AsBackend(t, get, at, nil).Want(t, 200).Map(t)["files"].([]any); len(files) != 0 {
			t.Errorf("refused and kept: %v", files)
		}
		s.fake.Fail("POST /v1/files", stripefake.Failure{Status: 503, Times: 1})
		chat := text(t, sendFile(t, s.Account, id, "chat.pdf", somePDF).Want(t, 201).Map(t)["id"])
		d := s.AsBackend(t, post, at+"/evidence", harness.JSON{"text": "They came.", "fileIds": []string{chat}}).
			Want(t, 200).Map(t)
		if sent := s.fake.Evidence(processorID); d["status"] != "under_review" ||
			sent["uncategorized_file"] != string(somePDF) {
			t.Errorf("%v; Stripe got %q", d, sent)
		}
	})
}

func (s stripeShop) wantCollected(t *testing.T, got dispute.Collected, receipt harness.JSON) {
	t.Helper()
	if r := got.Receipt; r == nil || r.Number != receipt["receiptNumber"] || r.TotalInCents != 2000 || len(r.Items) != 1 ||
		!strings.Contains(r.Items[0].Description, "Field guide") {
		t.Errorf("receipt %+v, of %v", r, receipt["receiptNumber"])
	}
	if b, p := got.Buyer, got.Purchase; b.Email == nil || *b.Email != "ada@example.com" || p.Country == nil ||
		*p.Country != "IE" || p.Network == nil || !strings.Contains(*p.Network, "127.0.0.1") || p.AmountInCents != 2000 ||
		p.PaidAt.IsZero() {
		t.Errorf("buyer %+v, purchase %+v", b, p)
	}
	if c := got.Consent; c == nil || c.Statement == nil || c.ImmediateSupply == nil || got.RefundPolicy == nil ||
		*got.RefundPolicy != "Money back for a month." {
		t.Errorf("consent %+v, policy %v", c, got.RefundPolicy)
	}
	if len(got.Access) != 1 || got.Access[0].StartedAt.IsZero() || len(got.Activity) == 0 {
		t.Errorf("access %+v, activity %+v", got.Access, got.Activity)
	}
	if len(got.Downloads) != 1 || got.Downloads[0].Name != "guide.pdf" || got.Downloads[0].Count != 1 {
		t.Errorf("downloads %+v", got.Downloads)
	}
	if !slices.ContainsFunc(got.Mails, func(m dispute.Mail) bool { return m.Kind == "receipt" && !m.SentAt.IsZero() }) {
		t.Errorf("mails %+v", got.Mails)
	}
}

func TestEvidence_FilesAreChecked(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, other := newFixture(t, app), app.NewAccount(t)
		id, _ := w.dispute(t, w.book(t, 2000))
		at := "/v1/disputes/" + id
		for name, c := range map[string]struct {
			name    string
			content []byte
			fields  []string
		}{
			"nothing":           {"a.pdf", []byte{}, []string{"file"}},
			"another type":      {"a.pdf", []byte("<html>"), []string{"file"}},
			"a byte too much":   {"a.pdf", append(slices.Clone(somePDF), make([]byte, 1_000_000)...), []string{"file"}},
			"a path for a name": {"..%2Fa.pdf", somePDF, []string{"name"}},
			"everything wrong":  {"a%3F", []byte("?"), []string{"name", "file"}},
		} {
			t.Run(name, func(t *testing.T) {
				sendFile(t, w.Account, id, c.name, c.content).Refuses(t, 400, "VALIDATION_FAILED", c.fields...)
			})
		}
		sendFile(t, w.Account, id, "a.pdf", make([]byte, 2<<20)).Refuses(t, 413, "PAYLOAD_TOO_LARGE")
		sendFile(t, other, id, "a.pdf", somePDF).Refuses(t, 404, "NOT_FOUND")
		other.AsBackend(t, get, at+"/evidence", nil).Refuses(t, 404, "NOT_FOUND")
		if n := app.Count(t, "SELECT COUNT(*) FROM files WHERE creator_id = $1", w.ID); n != 0 {
			t.Errorf("%d files are left of what was refused", n)
		}

		var ids []string
		for n, content := range [][]byte{somePDF, somePNG, someJPEG, somePDF} {
			f := sendFile(t, w.Account, id, fmt.Sprintf("%d", n), content).Want(t, 201).Map(t)
			ids = append(ids, text(t, f["id"]))
		}
		sendFile(t, w.Account, id, "e.pdf", somePDF).Refuses(t, 409, "LIMIT_REACHED")
		w.AsCreator(t, get, "/v1/files/"+ids[0], nil).Refuses(t, 404, "NOT_FOUND")
		w.AsCreator(t, http.MethodDelete, "/v1/files/"+ids[0], nil).Refuses(t, 404, "NOT_FOUND")
		other.AsBackend(t, http.MethodDelete, at+"/files/"+ids[0], nil).Refuses(t, 404, "NOT_FOUND")
		left := w.AsBackend(t, http.MethodDelete, at+"/files/"+ids[0], nil).Want(t, 200).Map(t)["files"].([]any)
		w.AsBackend(t, http.MethodDelete, at+"/files/"+ids[0], nil).Refuses(t, 404, "NOT_FOUND")
		first := left[0].(map[string]any)
		if len(left) != 3 || first["name"] != "1" || first["contentType"] != "image/png" ||
			fmt.Sprint(first["sizeInBytes"]) != fmt.Sprint(len(somePNG)) {
			t.Errorf("left: %v", left)
		}
		respond := func(fileIDs ...string) *harness.Response {
			return w.AsBackend(t, post, at+"/evidence", harness.JSON{"text": "winning_evidence", "fileIds": fileIDs})
		}
		respond(ids[0]).Refuses(t, 400, "VALIDATION_FAILED", "fileIds[0]")
		respond(ids[1], ids[1]).Refuses(t, 400, "VALIDATION_FAILED", "fileIds[1]")
		won := respond(ids[2], ids[1]).Want(t, 200).Map(t)
		evidence := won["evidence"].(map[string]any)
		if won["status"] != "won" || asJSON(t, evidence["fileIds"]) != asJSON(t, []string{ids[2], ids[1]}) {
			t.Errorf("responded: %v", won)
		}
		sendFile(t, w.Account, id, "a.pdf", somePDF).Refuses(t, 409, "STATE_CONFLICT")
		w.AsBackend(t, http.MethodDelete, at+"/files/"+ids[1], nil).Refuses(t, 409, "STATE_CONFLICT")
	})
}

func TestEvidence_FilesGoWithTheCustomer(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		id, receipt := w.dispute(t, w.book(t, 2000))
		at := "/v1/disputes/" + id
		sent, kept := w.disputeFile(t, id, "zoe.pdf"), w.disputeFile(t, id, "other.pdf")
		w.AsBackend(t, post, at+"/evidence", harness.JSON{"text": "winning_evidence", "fileIds": []string{sent}}).
			Want(t, 200)
		w.AsBackend(t, post, "/v1/customers/"+text(t, receipt["customerId"])+"/erase", nil).Want(t, 200)
		d := w.AsBackend(t, get, at, nil).Want(t, 200).Map(t)
		if d["evidence"] != nil || len(d["files"].([]any)) != 0 {
			t.Errorf("erased: %v", d)
		}
		collected := w.AsBackend(t, get, at+"/evidence", nil).Want(t, 200).Map(t)
		if buyer := collected["buyer"].(map[string]any); buyer["email"] != nil || buyer["name"] != nil {
			t.Errorf("the buyer is %v", buyer)
		}
		w.advance(t, 60)
		harness.Eventually(t, "the files are gone", func() bool {
			return app.Count(t, "SELECT COUNT(*) FROM files WHERE id IN ($1, $2)", sent, kept) == 0
		})
	})
}
