package contract

import (
	"context"
	"testing"
	"time"
)

func workersOfOtherProcessesAreNotified(t *testing.T, db Database) {
	serving, working := db.Open(t, StoreOptions{}), db.Open(t, StoreOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	woken, ended := make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- working.ListenForTasks(ctx, func() { woken <- struct{}{} }) }()
	if !db.OneProcess {
		<-woken // it listens
		for range 20 {
			serving.NotifyWorkers() // many may merge into one
		}
		select {
		case <-woken:
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
