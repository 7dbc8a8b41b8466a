package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sundry/core/appointment"
	"sundry/core/identity"
	"sundry/core/intake"
	"sundry/core/money"
	"sundry/core/webhook"
	"sundry/modules/mail/mailtemplate"
)

const (
	longTitle = "Donaudampfschifffahrtsgesellschaftskapitänsmützenworkshop für Fortgeschrittene, mit anschließender Werkstattführung"
	longName  = "Anna-Katharina Freifrau von und zu Oberammergau-Unterschleißheim"
)

// longMails are all kinds of mails, with the longest words that people write into them.
func longMails() map[mailtemplate.Kind]any {
	noon := time.Date(2026, time.September, 23, 12, 0, 0, 0, time.UTC)
	amount := money.Amount{Minor: 123_456_789, Currency: "eur"}
	seller := mailtemplate.Party{Name: "Buchdruckwerkstatt " + longName, Address: "help@example.com"}
	look := mailtemplate.Look{LogoURL: "logo", AccentColor: "#ffd500"}
	receipt := mailtemplate.Receipt{
		CheckoutID: "cs_1", CustomerID: "cus_1", Number: "ABCDEF-R-000042", Seller: seller.Name, Buyer: longName,
		Item: longTitle, Plan: "Jahresmitgliedschaft",
		Interval: "month", IntervalCount: 3, TrialDays: 14, Price: amount, Subtotal: amount, Discount: amount,
		Tax: amount, Total: amount, PaidAt: noon,
		DownloadURL: "https://files.example/1", FullRefundHours: new(48), ReplyTo: seller, Look: look, Locale: "de-DE",
	}
	plan := mailtemplate.Plan{
		CustomerID: "cus_1", Seller: seller.Name, Locale: "de-DE", ReplyTo: seller, Look: look, Item: longTitle,
		Amount: amount, At: noon, GraceEndsAt: noon,
		Number: "ABCDEF-R-000043", Brand: "mastercard", Last4: "4444", DeclineCode: "authentication_failed",
	}
	lesson := mailtemplate.Appointment{
		ID: "apt_1", Title: longTitle, Reader: longName, Other: seller.Name, StartsAt: noon,
		EndsAt: noon.Add(time.Hour), Timezone: "America/Argentina/ComodRivadavia",
		PreviousStartsAt: noon, MeetingURL: "https://meet.example/" + strings.Repeat("room", 30), Reason: longTitle,
		Locale: "de-DE", ReplyTo: seller, Look: look,
		Money: mailtemplate.CanceledMoney{Decision: appointment.RefundDue, Refunded: amount},
		More:  []mailtemplate.Appointment{{ID: "apt_2", StartsAt: noon, EndsAt: noon, Timezone: "Europe/Berlin"}},
	}
	alone := lesson
	alone.More, alone.MeetingURL, alone.Address = nil, "", "Lange Straße 1\n80331 München"
	ours := lesson
	ours.Locale, ours.ReplyTo, ours.Look, ours.Other = "", mailtemplate.Party{}, mailtemplate.Look{}, longName
	ours.Intake = intake.Response{
		Answers: []intake.Answer{
			{Label: "Woran möchtest du im Buchdruckworkshop am liebsten arbeiten, und warum?", Type: intake.LongText, Value: longName}, {Label: "?", Type: intake.Checkbox, Value: "true"},
		},
		Notes: strings.Repeat("Donaudampfschifffahrt ", 30), Guests: []string{"annakatharina.oberammergau@unterschleissheim.example"},
	}
	guest := alone
	guest.Reader, guest.Host, guest.Reason, guest.Money = "", "Anna-Katharina Freifrau von Oberammergau", "", mailtemplate.CanceledMoney{}
	return map[mailtemplate.Kind]any{
		mailtemplate.KindReceipt: receipt, mailtemplate.KindPortalLink: plan, mailtemplate.KindRenewalDue: plan,
		mailtemplate.KindChargeFailed: plan,
		mailtemplate.KindRenewed:      plan, mailtemplate.KindAppointmentBooked: lesson,
		mailtemplate.KindAppointmentRescheduled: alone,
		mailtemplate.KindAppointmentCanceled:    alone, mailtemplate.KindAppointmentReminder: alone,
		mailtemplate.KindCreatorBooked:      ours,
		mailtemplate.KindCreatorRescheduled: ours, mailtemplate.KindCreatorCanceled: ours,
		mailtemplate.KindGuestBooked: guest, mailtemplate.KindGuestRescheduled: guest, mailtemplate.KindGuestCanceled: guest,
		mailtemplate.KindRefund: mailtemplate.Refund{
			SubjectID: "ref_1", Seller: seller.Name, Item: longTitle, Amount: amount, HasCreditNote: true,
			CreditNote: "ABCDEF-C-000042", At: noon, ReplyTo: seller, Look: look, Locale: "de-DE",
		},
		mailtemplate.KindRefundFailed: mailtemplate.Refund{
			SubjectID: "ref_1", Seller: seller.Name, Item: longTitle, Amount: amount, At: noon, ReplyTo: seller, Look: look,
			Locale: "de-DE",
		},
		mailtemplate.KindCreatorRefundFailed: mailtemplate.RefundFailure{
			PaymentID: "pay_1", Item: longTitle, Amount: amount, Reason: "lost_or_stolen_card", At: noon,
		},
		mailtemplate.KindNewOrder: mailtemplate.Order{
			PaymentID: "pay_1", Number: "ABCDEF-R-000042", Item: longTitle, Plan: "Jahresmitgliedschaft", Buyer: longName,
			BuyerEmail: "annakatharina.oberammergau@unterschleissheim.example", Total: amount, PaidAt: noon, ToDeliver: true,
		},
		mailtemplate.KindDisputeOpened: mailtemplate.Dispute{
			ID: "dsp_1", Amount: amount, Reason: "product_not_received", RespondBy: noon,
		},
		mailtemplate.KindPayoutPaid: mailtemplate.Payout{ID: "po_1", Amount: amount, At: noon},
		mailtemplate.KindPayoutFailed: mailtemplate.Payout{
			ID: "po_1", Amount: amount, At: noon, Reason: "account_closed",
		},
		mailtemplate.KindSecondStep:       mailtemplate.SecondStep{Change: identity.RecoveryUsed, Note: longName},
		mailtemplate.KindMemberInvitation: mailtemplate.MemberInvitation{By: longName, Role: identity.RoleAdmin},
		mailtemplate.KindPasswordReset:    mailtemplate.PasswordReset{}, mailtemplate.KindEmailConfirmation: mailtemplate.EmailConfirmation{},
		mailtemplate.KindEndpointDisabled: mailtemplate.EndpointDisabled{
			ID: "whe_01jqz5y2c4e6g8h0k2m4p6r8s0", URL: "https://hooks.example/" + strings.Repeat("segment", 20),
			Creator: longName, Reason: webhook.DisabledByFailing, At: noon,
		},
	}
}

// mailSite leads to a host of the test, which has a logo and an empty page.
func mailSite(t *testing.T) (site mailtemplate.Site, page string) {
	t.Helper()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/logo" {
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,">`)
			return
		}
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = fmt.Fprint(
			w,
			`<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><circle cx="32" cy="32" r="32" fill="#d26a2f"/></svg>`,
		)
	}))
	t.Cleanup(host.Close)
	at := func(string) string { return host.URL + "/" }
	return mailtemplate.Site{
		ReceiptURL: at, ManageURL: at, PortalURL: at,
		CreditNoteURL: at, PaymentReceiptURL: at,
		ImageURL:     func(string) string { return host.URL + "/logo" },
		DashboardURL: at, PasswordResetURL: func(identity.ResetLink) string { return host.URL },
		MemberInvitationURL:  func(identity.MemberLink) string { return host.URL },
		EmailConfirmationURL: func(identity.ConfirmationLink) string { return host.URL },
	}, host.URL
}

// brokenWords are the words of a mail's headings, labels and buttons that stand on more than one line.
const brokenWords = `[...document.querySelectorAll("h1, th, a")].flatMap((el) => {
	const text = el.firstChild, out = [];
	for (const { 0: word, index } of (text?.data || "").matchAll(/[^\s-]+/g)) {
		const range = document.createRange();
		range.setStart(text, index);
		range.setEnd(text, index + word.length);
		if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) out.push(word);
	}
	return out;
})`

func TestEveryMailIsReadOnAPhone(t *testing.T) {
	t.Parallel()
	site, page := mailSite(t)
	samples := longMails()
	b := newTab(t)
	b.open(page)
	b.do("load axe", chromedp.Evaluate[chromedp.Void](shared.axe))
	b.size(360, 800)
	for _, kind := range mailtemplate.Kinds() {
		sample, known := samples[kind]
		if !known {
			t.Errorf("%s: no sample", kind)
			continue
		}
		raw, err := json.Marshal(sample)
		if err != nil {
			t.Fatal(err)
		}
		content, err := mailtemplate.Render(kind, site, raw)
		if err != nil {
			t.Fatal(err)
		}
		html, _ := json.Marshal(content.HTML) // a string always encodes
		b.do(
			"show the mail",
			chromedp.Evaluate[chromedp.Void]("document.open(), document.write("+string(html)+"), document.close()"),
		)
		b.wait(`document.querySelector("h1") && [...document.images].every((i) => i.complete && i.naturalWidth)`)
		b.fits(string(kind))
		if words := eval[[]string](b, brokenWords); len(words) > 0 {
			t.Errorf("%s: broken words %v", kind, words)
		}
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			for _, fault := range b.faults() {
				if strings.HasPrefix(fault, "region:") || strings.HasPrefix(fault, "landmark-one-main:") {
					continue // a mail is shown within a page of its reader's mailbox, which has the landmarks
				}
				t.Errorf("%s (%s): %s", kind, scheme, fault)
			}
		}
	}
}
