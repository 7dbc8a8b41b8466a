package contract

import (
	"context"
	"slices"
	"testing"
	"time"

	"sundry/ports"
)

func workersOfOtherProcessesAreNotified(t *testing.T, db Database) {
	serving, working := db.Open(t, StoreOptions{}), db.Open(t, StoreOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	woken, ended := make(chan []ports.TaskClass, 100), make(chan error, 1)
	go func() {
		ended <- working.ListenForTasks(ctx, func(classes ...ports.TaskClass) { woken <- classes })
	}()
	if !db.OneProcess {
		<-woken // it listens
		for range 20 {
			serving.NotifyWorkers(ports.PaymentTasks, ports.WebhookTasks) // many may merge into one
		}
		select {
		case classes := <-woken:
			slices.Sort(classes)
			if !slices.Equal(classes, []ports.TaskClass{ports.PaymentTasks, ports.WebhookTasks}) {
				t.Errorf("notified of %q, want of payments and webhooks alone", classes)
			}
		case <-time.After(10 * time.Second):
			t.Error("a notification did not arrive")
		}
	} else {
		serving.NotifyWorkers()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("listening ended with %v", err)
	}
}
