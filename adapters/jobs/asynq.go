package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"golang.org/x/time/rate"

	"sundry/ports"
)

const (
	// asynqTimeout ends after the handler's own, so that the run has been recorded by then.
	asynqTimeout = HandlerTimeout + 2*recordTimeout
	// asynqLook is how often asynq asks Redis for work while there is none.
	asynqLook = 40 * time.Millisecond
	// asynqQuit is when a stopping server gives up on its runs. It exceeds every run's time-out.
	asynqQuit = HandlerTimeout + recordTimeout
	// redisTimeout bounds one question to Redis, retries of the connection included.
	redisTimeout = 2 * time.Second
	// crowd is how many tasks may wait in Redis per worker of this process.
	crowd = 2
)

// Asynq carries tasks through Redis to whichever worker takes them first: one asynq server per class, because asynq
// has no concurrency per queue. Nothing relies on it for correctness: it may lose, double or delay.
type Asynq struct {
	mux     *Mux
	redis   redis.UniversalClient
	client  *asynq.Client
	prefix  string
	log     *slog.Logger
	servers []*asynq.Server
	ctx     context.Context // of every run; ends when the time to stop is over
	cancel  context.CancelFunc
}

var _ ports.Dispatcher = (*Asynq)(nil)

// NewAsynq returns a dispatcher without servers; Start brings them. The prefix keeps deployments apart that share a
// Redis. The connection stays the caller's.
func NewAsynq(connection redis.UniversalClient, prefix string, mux *Mux, log *slog.Logger) *Asynq {
	d := &Asynq{mux: mux, redis: connection, client: asynq.NewClientFromRedisClient(connection), prefix: prefix, log: log}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

func (d *Asynq) queueName(class Class) string { return d.prefix + "-" + string(class) }

// message is all that travels; the row is loaded when it arrives.
type message struct {
	ID    string `json:"id"`
	Token int64  `json:"token"`
}

// Room implements ports.Dispatcher by the length of asynq's list of waiting tasks.
func (d *Asynq) Room(ctx context.Context, class Class) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	waiting, err := d.redis.LLen(ctx, "asynq:{"+d.queueName(class)+"}:pending").Result()
	if err != nil {
		return 0, fmt.Errorf("length of the queue: %w", err)
	}
	return roomFor(int(waiting), crowd*workers[class]), nil
}

// Dispatch implements ports.Dispatcher. To enqueue the same claim again is success.
func (d *Asynq) Dispatch(ctx context.Context, class Class, t ports.Task) error {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	payload, err := json.Marshal(message{ID: t.ID, Token: t.Token})
	if err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	_, err = d.client.EnqueueContext(ctx, asynq.NewTask(t.Kind, payload),
		asynq.Queue(d.queueName(class)), asynq.TaskID(fmt.Sprintf("%s:%d", t.ID, t.Token)),
		asynq.MaxRetry(2), asynq.Timeout(asynqTimeout))
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

// Start begins to run tasks. freed is called when a class may have room again; it must not block.
func (d *Asynq) Start(freed func(Class)) error {
	complaints := &asynqLog{log: d.log, seldom: rate.Sometimes{First: 1, Interval: time.Minute}}
	for _, class := range ports.TaskClasses() {
		server := asynq.NewServerFromRedisClient(d.redis, asynq.Config{
			Concurrency:       workers[class],
			Queues:            map[string]int{d.queueName(class): 1},
			BaseContext:       func() context.Context { return d.ctx },
			TaskCheckInterval: asynqLook,
			ShutdownTimeout:   asynqQuit,
			Logger:            complaints,
			LogLevel:          asynq.WarnLevel,
		})
		err := server.Start(asynq.HandlerFunc(func(ctx context.Context, job *asynq.Task) error {
			d.receive(ctx, job.Payload())
			freed(class)
			return nil // the retry is in the row
		}))
		if err != nil {
			return fmt.Errorf("start the %s workers: %w", class, err)
		}
		d.servers = append(d.servers, server)
	}
	return nil
}

// receive runs the claim that a message names, if it still stands.
func (d *Asynq) receive(ctx context.Context, payload []byte) {
	var m message
	if err := json.Unmarshal(payload, &m); err != nil {
		d.log.ErrorContext(ctx, "message in the queue is not ours", slog.Any("error", err))
		return
	}
	t, err := d.mux.resume(ctx, m.ID, m.Token)
	switch {
	case err == nil:
		_ = d.mux.Run(ctx, t) // recorded in the row
	case !errors.Is(err, ports.ErrFenced):
		d.log.WarnContext(ctx, "task left to its lease", slog.String("task", m.ID), slog.Any("error", err))
	}
}

// Stop lets the running tasks finish. When ctx ends first, they are cancelled: they roll back and are tried again.
func (d *Asynq) Stop(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		var all sync.WaitGroup
		for _, server := range d.servers {
			all.Go(server.Shutdown)
		}
		all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		d.cancel()
		<-done
	}
	d.cancel()
}

// asynqLog brings asynq's own complaints into the log. During an outage it would complain several times a second.
type asynqLog struct {
	log    *slog.Logger
	seldom rate.Sometimes
}

func (l *asynqLog) complain(args []any) {
	l.seldom.Do(func() { l.log.Warn("asynq complains", "words", fmt.Sprint(args...)) })
}

// Debug implements asynq.Logger.
func (l *asynqLog) Debug(...any) {}

// Info implements asynq.Logger.
func (l *asynqLog) Info(...any) {}

// Warn implements asynq.Logger.
func (l *asynqLog) Warn(args ...any) { l.complain(args) }

// Error implements asynq.Logger.
func (l *asynqLog) Error(args ...any) { l.complain(args) }

// Fatal implements asynq.Logger. asynq calls it for faults of its own start only; the process is not its to end.
func (l *asynqLog) Fatal(args ...any) { l.complain(args) }
