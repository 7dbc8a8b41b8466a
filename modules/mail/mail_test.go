package mail_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/core/checkout"
	"sundry/core/webhook"
	"sundry/modules/mail"
	"sundry/ports"
)

// bought returns the payment of a buyer with an address.
func bought() checkout.Paid {
	e := paid()
	e.Email, e.BuyerName, e.ReceiptNumber = "grace@example.com", "Grace Hopper", "R-000007"
	e.Offer.Title, e.Offer.DownloadURL = "Type specimens", "https://cdn.example.com/specimens.pdf"
	return e
}

// settle publishes a payment in a transaction of its own.
func (w *fixture) settle(e checkout.Paid) {
	w.t.Helper()
	w.atomically(func(ctx context.Context, r ports.Repos) error { return w.mail.OnCheckoutPaid(ctx, r, e) })
}

// mailTask claims the only mail that is due.
func (w *fixture) mailTask() ports.Task {
	w.t.Helper()
	tasks, err := w.store.Claim(w.t.Context(), ports.DefaultTasks, w.Real(), 20*time.Second, 10)
	if err != nil || len(tasks) != 1 || tasks[0].Kind != mail.TaskSend {
		w.t.Fatalf("due are %+v, %v; want one mail", tasks, err)
	}
	return tasks[0]
}

func (w *fixture) stored(t ports.Task) ports.Mail {
	w.t.Helper()
	mails, err := w.store.Read(w.t.Context()).Mail.Mails.ListByID(w.t.Context(), creatorID, []string{t.Subject})
	if err != nil || len(mails) != 1 {
		w.t.Fatalf("mails %+v, %v", mails, err)
	}
	return mails[0]
}

func TestABuyerIsMailedOneReceipt(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.settle(bought())
		w.settle(bought()) // the same event twice
		w.work()
		got := w.mailed()
		if len(got) != 1 {
			t.Fatalf("%d mails, want one", len(got))
		}
		m := got[0]
		if m.To != "grace@example.com" || m.ToName != "Grace Hopper" || !strings.Contains(m.Subject, "Ada's Workshop") ||
			!m.Date.Equal(w.Real()) {
			t.Errorf("mail %+v", m)
		}
		for _, part := range []string{"€12.00", "Type specimens", "R-000007", "https://cdn.example.com/specimens.pdf",
			"https://pay.example.com/r/of-chk_1", "No money moved"} {
			if !strings.Contains(m.Text, part) || !strings.Contains(m.HTML, part) {
				t.Errorf("%s is missing", part)
			}
		}
		for _, part := range []string{`src="https://pay.example.com/media/img_1"`, ">Ada&#39;s Workshop</td>",
			"background: #ffee00"} {
			if !strings.Contains(m.HTML, part) {
				t.Errorf("the seller's look lacks %s", part)
			}
		}
		if w.work(); len(w.mailed()) > 0 {
			t.Error("it was sent again")
		}
		other := bought()
		other.PaymentID = "pay_2"
		w.settle(other)
		w.work()
		if got := w.mailed(); len(got) != 1 || got[0].ID == m.ID {
			t.Errorf("another payment: %+v", got)
		}
	})
}

func TestNobodyIsMailedWithoutAnAddressOrACause(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.settle(paid()) // gave no address
		undo := errors.New("rolled back")
		err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return errors.Join(w.mail.OnCheckoutPaid(ctx, r, bought()), undo)
		})
		if !errors.Is(err, undo) {
			t.Fatal(err)
		}
		w.work()
		if got := w.mailed(); len(got) > 0 {
			t.Errorf("mailed %+v", got)
		}
		w.settle(bought()) // the cause that was undone does not stand in the way of the one that happens
		w.work()
		if got := w.mailed(); len(got) != 1 {
			t.Errorf("%d mails, want one", len(got))
		}
	})
}

func TestAMailerThatFailsIsTriedAgainAndStopsNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.failMail(errors.New("the mail server: 451 later"))
		w.settle(bought())
		failed := w.mailTask()
		if err := w.run(failed); err == nil || !strings.Contains(err.Error(), "451 later") {
			t.Errorf("a mail that failed: %v", err)
		}
		if m := w.stored(failed); m.Settled() {
			t.Errorf("a mail that failed is settled: %+v", m)
		}
		// as a worker does
		if err := w.store.Fail(t.Context(), failed, "451 later", w.Real().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		w.failMail(nil)
		if w.work(); len(w.mailed()) > 0 {
			t.Error("tried again too early")
		}
		w.Advance(time.Minute)
		w.work()
		if got := w.mailed(); len(got) != 1 || got[0].ID != failed.Subject {
			t.Errorf("sent %+v, want the mail %s", got, failed.Subject)
		}
		if m := w.stored(failed); m.SentAt.IsZero() || m.Refusal != "" {
			t.Errorf("recorded %+v", m)
		}
	})
}

// One recipient gets twenty mails of an account in an hour; later ones wait.
func TestARecipientGetsTwentyMailsAnHourPerAccount(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		to := func(address string, from, n int) {
			for i := range n {
				e := bought()
				e.PaymentID, e.Email = fmt.Sprintf("pay_%s_%d", strings.ToLower(address), from+i), address
				w.settle(e)
			}
		}
		counts := func() map[string]int {
			w.work()
			got := map[string]int{}
			for _, m := range w.mailed() {
				got[strings.ToLower(m.To)]++
			}
			return got
		}
		to("grace@example.com", 0, 13)
		w.work()
		w.Advance(20 * time.Minute)
		to("Grace@Example.com", 13, 20)
		to("ada@example.net", 0, 1)
		if got := counts(); got["grace@example.com"] != mail.MaxPerRecipient || got["ada@example.net"] != 1 {
			t.Errorf("at first %v, want twenty and one", got)
		}
		w.Advance(39 * time.Minute)
		if got := counts(); len(got) > 0 {
			t.Errorf("before the hour was over: %v", got)
		}
		w.Advance(time.Minute)
		if got := counts(); got["grace@example.com"] != 13 {
			t.Errorf("an hour after the first thirteen: %v, want thirteen", got)
		}
		w.Advance(24 * time.Hour)
		if got := counts(); len(got) > 0 {
			t.Errorf("sent twice: %v", got)
		}
	})
}

func TestARefusedMailEndsWithItsReason(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.failMail(&ports.MailRefusedError{Reason: "550 no such user"})
		w.settle(bought())
		task := w.mailTask()
		if err := w.run(task); err != nil {
			t.Fatal(err)
		}
		if m := w.stored(task); m.RefusedAt.IsZero() || !m.SentAt.IsZero() || m.Refusal != "550 no such user" {
			t.Errorf("recorded %+v", m)
		}
		w.failMail(nil)
		w.Advance(24 * time.Hour)
		if w.work(); len(w.mailed()) > 0 {
			t.Error("a refused mail was sent")
		}
	})
}

func TestOneMailOfTwoFailsAndIsSentAlone(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.account.Wants.Orders = true
		w.settle(bought())
		both := w.mailTask()
		w.failsFor = "grace@example.com"
		w.failMail(errors.New("the mail server: 451 later"))
		if err := w.run(both); err == nil || !strings.Contains(err.Error(), "451 later") {
			t.Errorf("one of two failed: %v", err)
		}
		if got := w.mailed(); len(got) != 1 || got[0].To == w.failsFor {
			t.Errorf("sent %+v, want the creator's", got)
		}
		w.failMail(nil)
		if err := w.run(both); err != nil {
			t.Error(err)
		}
		if got := w.mailed(); len(got) != 1 || got[0].To != w.failsFor {
			t.Errorf("sent %+v, want the buyer's", got)
		}
		if w.work(); len(w.mailed()) > 0 {
			t.Error("a mail was sent again")
		}
	})
}

func TestAMailSentAndNotRecordedIsSentAgainUnderItsID(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.settle(bought())
		lost := w.mailTask()
		w.Advance(21 * time.Second) // the lease is over: the worker that sent it is taken for dead
		again := w.mailTask()
		if err := w.run(lost); !errors.Is(err, ports.ErrFenced) {
			t.Fatalf("the first worker comes back: %v", err)
		}
		if m := w.stored(lost); m.Settled() {
			t.Errorf("a fenced run recorded %+v", m)
		}
		if err := w.run(again); err != nil {
			t.Fatal(err)
		}
		got := w.mailed()
		if len(got) != 2 || got[0].ID != got[1].ID || got[0].ID != lost.Subject || got[0].Text != got[1].Text {
			t.Errorf("sent %+v, want the same mail twice", got)
		}
		if m := w.stored(again); m.SentAt.IsZero() {
			t.Errorf("recorded %+v", m)
		}
		if w.work(); len(w.mailed()) > 0 {
			t.Error("sent a third time")
		}
	})
}

func TestAnOwnerIsMailedEachTimeAnEndpointIsDisabled(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := webhook.Disabled{At: w.Real(), EndpointState: webhook.EndpointState{
			ID: "we_1", CreatorID: creatorID, URL: "https://hooks.example.com/", DisabledReason: webhook.DisabledByGone,
			Revision: 4,
		}}
		for _, step := range []struct {
			revision int64
			reason   string
			want     string
		}{
			{4, webhook.DisabledByGone, "410 Gone"}, {4, webhook.DisabledByGone, ""},
			{7, webhook.DisabledByGone, "410 Gone"},
			{9, webhook.DisabledByFailing, "last five days"},
		} {
			e.Revision, e.DisabledReason = step.revision, step.reason
			w.atomically(func(ctx context.Context, r ports.Repos) error { return w.mail.OnEndpointDisabled(ctx, r, e) })
			w.work()
			got := w.mailed()
			if step.want == "" && len(got) == 0 {
				continue
			}
			if len(got) != 1 || got[0].To != "ada@example.com" || !strings.Contains(got[0].Text, step.want) {
				t.Fatalf("revision %d: mailed %+v, want one because of %q", step.revision, got, step.want)
			}
		}
	})
}
