package notify_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sundry/core/checkout"
	"sundry/core/webhook"
	"sundry/modules/notify"
	"sundry/ports"
)

// bought is a payment of somebody whom mail reaches.
func bought() checkout.Paid {
	e := paid()
	e.Email, e.BuyerName, e.ReceiptNumber = "grace@example.com", "Grace Hopper", "R-000007"
	e.Offer.Title, e.Offer.DownloadURL = "Type specimens", "https://cdn.example.com/specimens.pdf"
	return e
}

// settle publishes a payment in a transaction of its own.
func (w *world) settle(e checkout.Paid) {
	w.t.Helper()
	w.atomically(func(ctx context.Context, r ports.Repos) error { return w.notify.OnCheckoutPaid(ctx, r, e) })
}

// mailTask claims the only mail that is due.
func (w *world) mailTask() ports.Task {
	w.t.Helper()
	tasks, err := w.store.Claim(w.t.Context(), ports.OtherTasks, w.Real(), 20*time.Second, 10)
	if err != nil || len(tasks) != 1 || tasks[0].Kind != notify.TaskMail {
		w.t.Fatalf("due are %+v, %v; want one mail", tasks, err)
	}
	return tasks[0]
}

func (w *world) mail(t ports.Task) ports.Mail {
	w.t.Helper()
	m, err := w.store.Read(w.t.Context()).Mails.Find(w.t.Context(), creatorID, t.Subject)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

func TestABuyerIsMailedOneReceipt(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.settle(bought())
		w.settle(bought()) // whoever says it twice
		w.work()
		got := w.mailed()
		if len(got) != 1 {
			t.Fatalf("%d mails, want one", len(got))
		}
		m := got[0]
		if m.To != "grace@example.com" || m.ToName != "Grace Hopper" || !strings.Contains(m.Subject, "Ada's Workshop") || !m.Date.Equal(w.Real()) {
			t.Errorf("mail %+v", m)
		}
		for _, part := range []string{"€12.00", "Type specimens", "R-000007", "https://cdn.example.com/specimens.pdf", "https://pay.example.com/r/of-chk_1", "No money was moved"} {
			if !strings.Contains(m.Text, part) || !strings.Contains(m.HTML, part) {
				t.Errorf("%s is missing", part)
			}
		}
		if again := w.work(); len(again) > 0 || len(w.mailed()) > 0 {
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
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.sell() // gave no address
		undo := errors.New("rolled back")
		err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return errors.Join(w.notify.OnCheckoutPaid(ctx, r, bought()), undo)
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
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.endpoint("hooks", "payment.completed")
		w.failMail(errors.New("the mail server: 451 later"))
		w.settle(bought())
		if types := w.types(); len(types) != 1 {
			t.Fatalf("the payment told %v", types)
		}
		tasks, err := w.store.Claim(t.Context(), ports.OtherTasks, w.Real(), 20*time.Second, 10)
		if err != nil || len(tasks) != 2 {
			t.Fatalf("due are %+v, %v", tasks, err)
		}
		var failed ports.Task
		for _, task := range tasks {
			if err := w.run(task); task.Kind == notify.TaskMail {
				if failed = task; err == nil || !strings.Contains(err.Error(), "451 later") {
					t.Errorf("a mail that failed: %v", err)
				}
			} else if err != nil {
				t.Error(err)
			}
		}
		if m := w.mail(failed); m.Settled() {
			t.Errorf("a mail that failed is settled: %+v", m)
		}
		if err := w.store.Fail(t.Context(), failed, "451 later", w.Real().Add(time.Minute)); err != nil { // as a worker does
			t.Fatal(err)
		}
		w.failMail(nil)
		if w.work(); len(w.mailed()) > 0 {
			t.Error("tried again too early")
		}
		w.advance(time.Minute)
		w.work()
		if got := w.mailed(); len(got) != 1 || got[0].ID != failed.Subject {
			t.Errorf("sent %+v, want the mail %s", got, failed.Subject)
		}
		if m := w.mail(failed); m.SentAt.IsZero() || m.Refusal != "" {
			t.Errorf("recorded %+v", m)
		}
	})
}

func TestARefusedMailEndsWithItsReason(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.failMail(&ports.MailRefusedError{Reason: "550 no such user"})
		w.settle(bought())
		task := w.mailTask()
		if err := w.run(task); err != nil {
			t.Fatal(err)
		}
		if m := w.mail(task); m.RefusedAt.IsZero() || !m.SentAt.IsZero() || m.Refusal != "550 no such user" {
			t.Errorf("recorded %+v", m)
		}
		w.failMail(nil)
		w.advance(24 * time.Hour)
		if w.work(); len(w.mailed()) > 0 {
			t.Error("a refused mail was sent")
		}
	})
}

func TestAMailSentAndNotRecordedIsSentAgainUnderItsID(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.settle(bought())
		lost := w.mailTask()
		w.advance(21 * time.Second) // the lease is over: the worker that sent it is taken for dead
		again := w.mailTask()
		if err := w.run(lost); !errors.Is(err, ports.ErrFenced) {
			t.Fatalf("the first worker comes back: %v", err)
		}
		if m := w.mail(lost); m.Settled() {
			t.Errorf("a fenced run recorded %+v", m)
		}
		if err := w.run(again); err != nil {
			t.Fatal(err)
		}
		got := w.mailed()
		if len(got) != 2 || got[0].ID != got[1].ID || got[0].ID != lost.Subject || got[0].Text != got[1].Text {
			t.Errorf("sent %+v, want the same mail twice", got)
		}
		if m := w.mail(again); m.SentAt.IsZero() {
			t.Errorf("recorded %+v", m)
		}
		if w.work(); len(w.mailed()) > 0 {
			t.Error("sent a third time")
		}
	})
}

func TestAnOwnerIsMailedWhenAnEndpointIsSwitchedOff(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		only := func(reason string) {
			t.Helper()
			got := w.mailed()
			if len(got) != 1 || got[0].To != "ada@example.com" || !strings.Contains(got[0].Text, reason) {
				t.Fatalf("mailed %+v, want one because of %q", got, reason)
			}
		}
		e := w.endpoint("hooks", "payment.completed")
		w.answer(e, 410)
		w.sell()
		w.work()
		only("410 Gone")
		w.enable(e, true) // its backlog meets the same answer: switched off once more
		w.work()
		only("410 Gone")
		w.enable(e, true)
		w.answer(e, 500)
		w.work()
		w.enable(e, false)
		if len(w.mailed()) > 0 {
			t.Fatal("mailed for a failure, or for what the owner did")
		}
		w.enable(e, true)
		for range 4 {
			w.sell()
			w.advance(48 * time.Hour)
			w.work()
		}
		if s := w.stored(e); s.DisabledReason != webhook.DisabledByFailing {
			t.Fatalf("after days of failing: %+v", s)
		}
		only("last five days")
	})
}
