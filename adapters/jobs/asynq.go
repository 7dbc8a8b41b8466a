package jobs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"golang.org/x/time/rate"

	"sundry/ports"
)

const (
	// asynqTimeout bounds how long a message may wait for workers: longer, and the leases of its tasks have ended.
	asynqTimeout = Lease
	// asynqPoll is the interval at which a running server asks Redis for messages.
	asynqPoll = 10 * time.Millisecond
	// asynqBatch is the number of tasks in one message.
	asynqBatch = 32
	// capacityPoll is the interval at which a message polls for a free worker.
	capacityPoll = 2 * time.Millisecond
	// redisTimeout bounds one question to Redis, retries of the connection included. Claims wait for it.
	redisTimeout = time.Second
	// backlogPerWorker is the number of tasks that may wait in Redis per worker of this process.
	backlogPerWorker = 2
	// serverQuiet is the time after which a server stops to which no more messages come.
	serverQuiet = 3 * ports.TaskPollInterval
)

// Asynq runs claimed tasks with the workers of an Inline and hands what those have no capacity for through Redis to the
// other processes, if there are some. asynq polls Redis, so its servers run only while there are messages: who enqueues
// one publishes its class. There is one server per class, because asynq has no concurrency per queue. Nothing relies on
// it for correctness: it may lose, double or delay.
type Asynq struct {
	mux    *Mux
	redis  redis.UniversalClient
	client *asynq.Client
	prefix string
	log    *slog.Logger
	local  *Inline
	// id tells this process's publications from those of the others.
	id string
	// others is the number of other processes that listened when Redis was asked last; 0 while it does not respond.
	others atomic.Int64
	// surplus receives when messages of a class wait for this process.
	surplus map[Class]chan struct{}
	warn    *asynqLog
	cancel  context.CancelFunc
	loops   sync.WaitGroup
}

var _ ports.Dispatcher = (*Asynq)(nil)

// NewAsynq returns a dispatcher without workers; Start brings them. The prefix keeps deployments apart that share a
// Redis. The connection stays the caller's.
func NewAsynq(connection redis.UniversalClient, prefix string, mux *Mux, log *slog.Logger) *Asynq {
	d := &Asynq{
		mux: mux, redis: connection, client: asynq.NewClientFromRedisClient(connection), prefix: prefix, log: log,
		local: NewInline(mux, mux.queue, log), id: rand.Text(), surplus: map[Class]chan struct{}{},
		warn: &asynqLog{log: log, limit: rate.Sometimes{First: 1, Interval: time.Minute}}, cancel: func() {},
	}
	for _, class := range ports.TaskClasses() {
		d.surplus[class] = make(chan struct{}, 1)
	}
	return d
}

func (d *Asynq) queueName(class Class) string { return d.prefix + "-" + string(class) }

// pendingKey is asynq's list of waiting messages.
func (d *Asynq) pendingKey(class Class) string { return "asynq:{" + d.queueName(class) + "}:pending" }

// channel names the Redis channel on which processes publish the class of a message.
func (d *Asynq) channel() string { return d.prefix + "-surplus" }

// message carries claims. Their rows are read again only when they have waited.
type message struct {
	Tasks []ports.Task `json:"tasks"`
}

// Capacity implements ports.Dispatcher: that of the workers here, else of the others. That is bounded by the number of
// waiting messages, as if each were full. A Redis that does not respond leaves the workers here.
func (d *Asynq) Capacity(ctx context.Context, class Class) int {
	if here := d.local.Capacity(ctx, class); here > 0 || d.others.Load() <= 0 {
		return here
	}
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	waiting, err := d.redis.LLen(ctx, d.pendingKey(class)).Result()
	if err != nil {
		d.others.Store(0)
		return 0
	}
	return capacityFor(int(waiting)*asynqBatch, backlogPerWorker*d.mux.workers[class])
}

// Dispatch implements ports.Dispatcher. To enqueue the same claims again is success.
func (d *Asynq) Dispatch(ctx context.Context, class Class, tasks ...ports.Task) (handed int, err error) {
	handed, err = d.local.Dispatch(ctx, class, tasks...)
	if !errors.Is(err, errFull) {
		return handed, err
	}
	for batch := range slices.Chunk(tasks[handed:], asynqBatch) {
		if err := d.enqueue(ctx, class, batch); err != nil {
			d.others.Store(0)
			return handed, err
		}
		handed += len(batch)
	}
	return handed, nil
}

// enqueue hands tasks to another process. One that misses the publication finds the message later.
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
	_ = d.redis.Publish(ctx, d.channel(), string(class)+" "+d.id).Err()
	return nil
}

// Start begins to run tasks. freed is called when a class may have capacity again; it must not block.
func (d *Asynq) Start(freed func(Class)) {
	d.local.Start(freed)
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	d.loops.Go(func() { d.listen(ctx) })
	for _, class := range ports.TaskClasses() {
		d.loops.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-d.surplus[class]:
					d.serve(ctx, class)
				}
			}
		})
	}
}

// listen notes what other processes publish, and asks Redis periodically for what was missed.
func (d *Asynq) listen(ctx context.Context) {
	subscription := d.redis.Subscribe(ctx, d.channel())
	defer func() { _ = subscription.Close() }()
	published := subscription.Channel()
	poll := time.NewTicker(ports.TaskPollInterval)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-published:
			if class, sender, _ := strings.Cut(m.Payload, " "); sender != d.id && d.surplus[Class(class)] != nil {
				notify(d.surplus[Class(class)])
			}
		case <-poll.C:
			d.lookForSurplus(ctx)
		}
	}
}

// lookForSurplus counts the processes that listen, and finds messages that wait while workers here are free.
func (d *Asynq) lookForSurplus(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	waiting := map[Class]*redis.IntCmd{}
	var listening *redis.MapStringIntCmd
	_, err := d.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		listening = p.PubSubNumSub(ctx, d.channel())
		for class := range d.surplus {
			waiting[class] = p.LLen(ctx, d.pendingKey(class))
		}
		return nil
	})
	if err != nil {
		d.others.Store(0)
		return
	}
	d.others.Store(listening.Val()[d.channel()] - 1)
	for class, n := range waiting {
		if d.local.Capacity(ctx, class) > 0 && n.Val() > 0 {
			notify(d.surplus[class])
		}
	}
}

// notify sends what one receive serves, however often it was sent meanwhile. It does not block.
func notify(one chan<- struct{}) {
	select {
	case one <- struct{}{}:
	default:
	}
}

// serve takes the messages of a class until there are no more.
func (d *Asynq) serve(ctx context.Context, class Class) {
	server := asynq.NewServerFromRedisClient(d.redis, asynq.Config{
		Concurrency:       1, // a message is done once the workers have its tasks
		Queues:            map[string]int{d.queueName(class): 1},
		TaskCheckInterval: asynqPoll,
		ShutdownTimeout:   asynqTimeout,
		Logger:            d.warn,
		LogLevel:          asynq.WarnLevel,
	})
	err := server.Start(asynq.HandlerFunc(func(ctx context.Context, job *asynq.Task) error {
		d.receive(ctx, class, job.Payload())
		return nil // the retry is in the row
	}))
	if err != nil {
		d.log.WarnContext(ctx, "messages are not taken", slog.String("class", string(class)), slog.Any("error", err))
		return
	}
	defer server.Shutdown()
	quiet := time.NewTimer(serverQuiet)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-quiet.C:
			return
		case <-d.surplus[class]:
			quiet.Reset(serverQuiet)
		}
	}
}

// receive hands the claims of a message to the workers as they become free: a slow task occupies one worker only.
// Claims that no worker takes early enough wait for their lease to end.
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
	d.cancel()
	var all sync.WaitGroup
	all.Go(func() { d.local.Stop(ctx) })
	all.Go(d.loops.Wait)
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
