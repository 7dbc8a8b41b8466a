package contract

import (
	"context"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/tests/testdb"
)

func TestWorkersOfOtherProcessesArePaged(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		address := engine.URL(t)
		open := func() *gormstore.Store {
			store, err := gormstore.Open(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			return store
		}
		serving, working := open(), open()
		ctx, cancel := context.WithCancel(t.Context())
		woken, ended := make(chan struct{}, 100), make(chan error, 1)
		go func() { ended <- working.ListenForPages(ctx, func() { woken <- struct{}{} }) }()
		if engine.Name == testdb.Postgres.Name {
			<-woken // it listens
			for range 20 {
				serving.PageWorkers() // many may merge into one
			}
			select {
			case <-woken:
			case <-time.After(10 * time.Second):
				t.Error("a page did not arrive")
			}
		} else {
			serving.PageWorkers()
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("listening ended with %v", err)
		}
	})
}
