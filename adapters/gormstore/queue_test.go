package gormstore

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"sundry/ports"
)

// requestOf is the context of a request that began so many seconds after the first.
func requestOf(second int) context.Context {
	return ports.WithBegin(context.Background(), time.Unix(1_800_000_000+int64(second), 0))
}

// entered lets contexts ask for the only connection, which is taken, in their order, and returns their places in the
// order in which they got it.
func entered(t *testing.T, q *queue, asking ...context.Context) (order []int) {
	t.Helper()
	if err := q.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, ctx := range asking {
		go func() {
			if err := q.enter(ctx); err == nil {
				order = append(order, i)
				q.leave()
			}
		}()
		time.Sleep(time.Millisecond)
	}
	q.leave()
	synctest.Wait()
	return order
}

func TestRequestsThatBeganFirstGetConnectionsFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &queue{free: 1}
		if got := entered(t, q, requestOf(3), requestOf(1), requestOf(2)); !slices.Equal(got, []int{1, 2, 0}) {
			t.Errorf("the order was %v", got)
		}
		if q.free != 1 {
			t.Errorf("%d connections are free", q.free)
		}
	})
}

func TestWorkBesideRequestsHasEveryFourthConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		work := context.Background()
		got := entered(t, &queue{free: 1}, work, requestOf(5), work, requestOf(4), requestOf(3), requestOf(2), requestOf(1))
		if !slices.Equal(got, []int{6, 5, 4, 0, 3, 1, 2}) {
			t.Errorf("the order was %v", got)
		}
	})
}

func TestTheLongestWaitIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		for range 2 {
			go func() { _ = q.enter(t.Context()) }()
			time.Sleep(time.Second)
		}
		q.leave()
		q.leave()
		synctest.Wait()
		if got := q.longestWait(); got != 2*time.Second {
			t.Errorf("the longest wait was %v", got)
		}
		if got := q.longestWait(); got != 0 {
			t.Errorf("the same wait is told again: %v", got)
		}
	})
}

// However some ask, leave and give up, no connection is lost and nobody waits beside a free one.
func TestNoConnectionIsLostToThoseWhoGiveUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			const connections = 3
			q := &queue{free: connections}
			var waiting []context.CancelFunc
			var got atomic.Int64
			for range rapid.IntRange(1, 60).Draw(rt, "steps") {
				switch rapid.IntRange(0, 2).Draw(rt, "step") {
				case 0:
					ctx := context.Background()
					if rapid.Bool().Draw(rt, "request") {
						ctx = requestOf(rapid.IntRange(0, 9).Draw(rt, "began"))
					}
					ctx, giveUp := context.WithCancel(ctx)
					waiting = append(waiting, giveUp)
					go func() {
						if q.enter(ctx) == nil {
							got.Add(1)
						}
					}()
				case 1:
					if got.Load() > 0 {
						got.Add(-1)
						q.leave()
					}
				default:
					if len(waiting) > 0 {
						waiting[rapid.IntRange(0, len(waiting)-1).Draw(rt, "who")]()
					}
				}
				if rapid.Bool().Draw(rt, "at once") {
					synctest.Wait()
				}
			}
			for _, giveUp := range waiting {
				giveUp()
			}
			synctest.Wait()
			if q.free+int(got.Load()) != connections || len(q.requests)+len(q.background) > 0 {
				rt.Errorf("%d free, %d taken, %d wait", q.free, got.Load(), len(q.requests)+len(q.background))
			}
		})
	})
}

func TestNobodyIsToldOfWaitsWhileAConnectionIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		go func() { _ = q.enter(t.Context()) }()
		time.Sleep(time.Second)
		q.leave()
		q.leave()
		synctest.Wait()
		if got := q.longestWait(); got != 0 || q.free != 1 {
			t.Errorf("%v with %d free", got, q.free)
		}
	})
}
