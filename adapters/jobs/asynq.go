package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"golang.org/x/time/rate"

	"sundry/ports"
)

const (
	// asynqTimeout bounds how long a message may wait for workers: longer, and the leases of its tasks have ended.
	asynqTimeout = Lease
	// asynqQuit is the time after which a stopping server gives up on its messages. The end of the workers ends them at
	// once.
	asynqQuit = recordTimeout
	// asynqBatch is the number of tasks in one message.
	asynqBatch = 32
	// capacityPoll is the interval at which a message polls for a free worker.
	capacityPoll = 2 * time.Millisecond
	// redisTimeout bounds one question to Redis, retries of the connection included.
	redisTimeout = 2 * time.Second
	// backlogPerWorker is the number of tasks that may wait in Redis per worker of this process.
	backlogPerWorker = 2
)

// asynqPoll contains the intervals at which asynq polls an empty queue in Redis. Buyers and receivers wait for the
// first two; deliveries to one endpoint, of which few are under way at a time, most of all.
var asynqPoll = map[Class]time.Duration{Payments: 15 * time.Millisecond, Webhooks: 5 * time.Millisecond,
	Default: 40 * time.Millisecond}

// Asynq carries tasks through Redis to whichever process takes them first, where the workers of an Inline run them: one
// asynq server per class, because asynq has no concurrency per queue. Nothing relies on it for correctness: it may
// lose, double or delay.
type Asynq struct {
	mux     *Mux
	redis   redis.UniversalClient
	client  *asynq.Client
	prefix  string
	log     *slog.Logger
	local   *Inline
	servers []*asynq.Server
}

var _ ports.Dispatcher = (*Asynq)(nil)

// NewAsynq returns a dispatcher without servers; Start brings them. The prefix keeps deployments apart that share a
// Redis. The connection stays the caller's.
func NewAsynq(connection redis.UniversalClient, prefix string, mux *Mux, log *slog.Logger) *Asynq {
	return &Asynq{
		mux: mux, redis: connection, client: asynq.NewClientFromRedisClient(connection), prefix: prefix, log: log,
		local: NewInline(mux, mux.queue, log),
	}
}

func (d *Asynq) queueName(class Class) string { return d.prefix + "-" + string(class) }

// message carries claims. Their rows are read again only when they have waited.
type message struct {
	Tasks []ports.Task `json:"tasks"`
}

// Capacity implements ports.Dispatcher by the length of asynq's list of waiting messages, as if each were full.
func (d *Asynq) Capacity(ctx context.Context, class Class) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	waiting, err := d.redis.LLen(ctx, "asynq:{"+d.queueName(class)+"}:pending").Result()
	if err != nil {
		return 0, fmt.Errorf("length of the queue: %w", err)
	}
	return capacityFor(int(waiting)*asynqBatch, backlogPerWorker*d.mux.workers[class]), nil
}

// Dispatch implements ports.Dispatcher. To enqueue the same claims again is success.
func (d *Asynq) Dispatch(ctx context.Context, class Class, tasks ...ports.Task) (handed int, err error) {
	for batch := range slices.Chunk(tasks, asynqBatch) {
		if err := d.enqueue(ctx, class, batch); err != nil {
			return handed, err
		}
		handed += len(batch)
	}
	return handed, nil
}

func (d *Asynq) enqueue(ctx context.Context, class Class, batch []ports.Task) error {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	payload, err := json.Marshal(message{Tasks: batch}) //nolint:musttag // written and read here only
	if err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	_, err = d.client.EnqueueContext(ctx, asynq.NewTask("tasks", payload),
		asynq.Queue(d.queueName(class)), asynq.TaskID(fmt.Sprintf("%s:%d:%d", batch[0].ID, batch[0].Token, len(batch))),
		asynq.MaxRetry(2), asynq.Timeout(asynqTimeout))
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

// Start begins to run tasks. freed is called when a class may have capacity again; it must not block.
func (d *Asynq) Start(freed func(Class)) error {
	if err := d.local.Start(freed); err != nil {
		return err
	}
	warnings := &asynqLog{log: d.log, limit: rate.Sometimes{First: 1, Interval: time.Minute}}
	for _, class := range ports.TaskClasses() {
		server := asynq.NewServerFromRedisClient(d.redis, asynq.Config{
			Concurrency:       1, // a message is done once the workers have its tasks
			Queues:            map[string]int{d.queueName(class): 1},
			TaskCheckInterval: asynqPoll[class],
			ShutdownTimeout:   asynqQuit,
			Logger:            warnings,
			LogLevel:          asynq.WarnLevel,
		})
		err := server.Start(asynq.HandlerFunc(func(ctx context.Context, job *asynq.Task) error {
			d.receive(ctx, class, job.Payload())
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

// receive hands the claims of a message to the workers as they become free: a slow task occupies one worker only.
// Claims that no worker takes in time wait for their lease to end.
func (d *Asynq) receive(ctx context.Context, class Class, payload []byte) {
	var m message
	if err := json.Unmarshal(payload, &m); err != nil { //nolint:musttag // as enqueue wrote it
		d.log.ErrorContext(ctx, "message in the queue is not ours", slog.Any("error", err))
		return
	}
	for waiting := m.Tasks; len(waiting) > 0; pause(ctx, capacityPoll) {
		handed, err := d.local.Dispatch(ctx, class, waiting...)
		waiting = waiting[handed:]
		switch {
		case errors.Is(err, errStopped):
			d.release(waiting)
			return
		case err != nil && ctx.Err() != nil:
			d.log.WarnContext(ctx, "tasks left to their leases", slog.Int("tasks", len(waiting)), slog.Any("error", ctx.Err()))
			return
		case err == nil:
			return
		}
	}
}

// release returns claims to the queue of a process that goes on.
func (d *Asynq) release(tasks []ports.Task) {
	ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
	defer cancel()
	for _, t := range tasks {
		if err := d.mux.queue.Release(ctx, t); err != nil && !errors.Is(err, ports.ErrFenced) {
			d.log.WarnContext(ctx, "task left to its lease", slog.String("task", t.ID), slog.Any("error", err))
		}
	}
}

// Stop lets the running tasks finish. When ctx ends first, they are canceled: they roll back and are tried again.
func (d *Asynq) Stop(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { d.local.Stop(ctx) })
	for _, server := range d.servers {
		all.Go(server.Shutdown)
	}
	all.Wait()
}

// asynqLog brings asynq's own warnings into the log. During an outage it would log several times a second.
type asynqLog struct {
	log   *slog.Logger
	limit rate.Sometimes
}

func (l *asynqLog) warn(args []any) {
	l.limit.Do(func() { l.log.Warn("asynq warns", "message", fmt.Sprint(args...)) })
}

// Debug implements asynq.Logger.
func (l *asynqLog) Debug(...any) {}

// Info implements asynq.Logger.
func (l *asynqLog) Info(...any) {}

// Warn implements asynq.Logger.
func (l *asynqLog) Warn(args ...any) { l.warn(args) }

// Error implements asynq.Logger.
func (l *asynqLog) Error(args ...any) { l.warn(args) }

// Fatal implements asynq.Logger. asynq calls it for faults of its own start only; the process is not its to end.
func (l *asynqLog) Fatal(args ...any) { l.warn(args) }
