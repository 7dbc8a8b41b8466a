package ports

import (
	"context"
	"time"

	"sundry/core/civil"
	"sundry/core/subscription"
	"sundry/core/usage"
)

// UsageRepos are the repositories of usage.
type UsageRepos struct {
	Catalog UsageCatalog
	Plans   BillingPlans
	Streams UsageStreams
	Reports UsageReports
	Rollups UsageRollups
	Alerts  UsageAlerts
	Credits UsageCredits
	Audit   UsageAudit
}

// UsageCatalog keeps what usage is measured and priced by. None of it ever changes.
type UsageCatalog interface {
	// InsertMeter writes a new meter. ErrDuplicate (usage_meters_creator_id_event_name).
	InsertMeter(ctx context.Context, m usage.Meter) error
	// GetMeter returns a meter of the account. ErrNotFound.
	GetMeter(ctx context.Context, creatorID, id string) (usage.Meter, error)
	// GetMeterByEvent returns the account's meter of an event name. ErrNotFound.
	GetMeterByEvent(ctx context.Context, creatorID, eventName string) (usage.Meter, error)
	// ListMeters returns the account's meters, newest first.
	ListMeters(ctx context.Context, creatorID string, page Page) (List[usage.Meter], error)
	// InsertProduct writes a new product.
	InsertProduct(ctx context.Context, p usage.Product) error
	// GetProduct returns a product of the account. ErrNotFound.
	GetProduct(ctx context.Context, creatorID, id string) (usage.Product, error)
	// ListProducts returns the account's products, newest first.
	ListProducts(ctx context.Context, creatorID string, page Page) (List[usage.Product], error)
	// InsertPrice writes a new price.
	InsertPrice(ctx context.Context, p usage.Price) error
	// GetPrice returns a usage price of the account. ErrNotFound.
	GetPrice(ctx context.Context, creatorID, id string) (usage.Price, error)
	// ListPrices returns the account's usage prices, newest first.
	ListPrices(ctx context.Context, creatorID string, page Page) (List[usage.Price], error)
}

// BillingPlans keeps what bills the use of meters.
type BillingPlans interface {
	// Insert writes a new plan. ErrDuplicate (usage_billing_plans_creator_id_subscription_id_meter_id).
	Insert(ctx context.Context, p usage.PlanState) error
	// Get returns a plan of the account. ErrNotFound.
	Get(ctx context.Context, creatorID, id string) (usage.PlanState, error)
	// Update writes a changed plan. ErrStale.
	Update(ctx context.Context, p usage.PlanState) error
	// List returns the account's plans, newest first; of one subscription unless that is "".
	List(ctx context.Context, creatorID, subscriptionID string, page Page) (List[usage.PlanState], error)
	// ListBySubscription returns every plan of a subscription.
	ListBySubscription(ctx context.Context, creatorID, subscriptionID string) ([]usage.PlanState, error)
}

// UsageStream is the use of one meter by one subscription: where its reports are counted.
type UsageStream struct {
	ID                 int64
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string
	SubscriptionID     string
	MeterID            string
	EventName          string
	Aggregation        usage.Aggregation
	Schedule           usage.Schedule
	// Included is the quantity of the meter that the subscription's own plan includes now.
	Included int64
	// PlanID is the billing plan, "" while there is none. Closed means that nothing can be reported any more.
	PlanID string
	Closed bool
	// Version rises with every change, so that a report is never counted by an old schedule.
	Version int64
}

// UsageStreams keeps where reports are counted.
type UsageStreams interface {
	// LockIntake keeps reports from being accepted until the transaction ends, and waits for those that are being written.
	LockIntake(ctx context.Context) error
	// Insert writes a new stream. ErrDuplicate (usage_streams_creator_id_subscription_id_event_name).
	Insert(ctx context.Context, s UsageStream) error
	// Get returns a stream. ErrNotFound.
	Get(ctx context.Context, creatorID, subscriptionID, eventName string) (UsageStream, error)
	// GetForUpdate is Get that locks the stream until the transaction ends: it is billed by one plan at a time.
	GetForUpdate(ctx context.Context, creatorID, subscriptionID, eventName string) (UsageStream, error)
	// GetByID returns a stream of any account. ErrNotFound.
	GetByID(ctx context.Context, id int64) (UsageStream, error)
	// Update writes a changed stream whose version was raised by one. ErrStale.
	Update(ctx context.Context, s UsageStream) error
	// SetIncluded records what a subscription's plan includes of its meters, by event name and else nothing, in periods
	// that end after since. Closed periods of a billing plan keep what they had.
	SetIncluded(ctx context.Context, sub subscription.State, included map[string]int64, since time.Time) error
	// IncludedAt returns what the subscription's plan included in a period of the stream that ends at a time.
	IncludedAt(ctx context.Context, s UsageStream, end time.Time) (int64, error)
	// ListBySubscription returns a subscription's streams by event name.
	ListBySubscription(ctx context.Context, creatorID, subscriptionID string) ([]UsageStream, error)
	// ListByID returns those of the streams that there are, of any account.
	ListByID(ctx context.Context, ids []int64) ([]UsageStream, error)
	// ListByCustomer returns the streams of an external customer by event name that are not closed.
	ListByCustomer(ctx context.Context, creatorID, externalCustomerID string) ([]UsageStream, error)
	// Recount moves the reports of a stream from the given time on into the periods of its schedule, and counts those
	// again that gained or lost some. The intake and the rollups must be locked.
	Recount(ctx context.Context, s UsageStream, from time.Time) error
}

// StoredReport is an accepted report as its key finds it.
type StoredReport struct {
	ID          string
	CreatorID   string
	Key         string
	StreamID    int64
	PeriodStart time.Time
	ReceivedAt  time.Time // real time
	Fingerprint [16]byte
	Voided      bool
	// Deleted means that only the key is left: old reports are deleted.
	Deleted bool
	// Position is its place in the order of commits.
	Position int64
}

// ListedReport is an accepted report as lists have it.
type ListedReport struct {
	ID       string
	StreamID int64
	// Key is the idempotency key; "" where an earlier version wrote the report.
	Key string
	// Quantity is the part of the report that counts: 0 where its unique value was counted before.
	Quantity    usage.Quantity
	Dimensions  usage.Values
	At          time.Time
	ReceivedAt  time.Time // real time
	PeriodStart time.Time
	VoidedAt    time.Time // zero unless it is voided
	// InvoiceID is the invoice of its period, "" until there is one, and BilledAt is when, in real time, the period was
	// billed last.
	InvoiceID string
	BilledAt  time.Time
}

// ReportFilter specifies which reports of which streams are listed.
type ReportFilter struct {
	// StreamIDs are the streams. Without them the reports of all streams of CreatorID are listed, or of those whose
	// meter has the EventName.
	StreamIDs            []int64
	CreatorID, EventName string
	// From and To bound the time of use: from From up to, and without, To; the zero time bounds nothing.
	From, To time.Time
	// ReceivedSince is a real time before which none of them was received.
	ReceivedSince time.Time
	// Window bounds how many reports, those of other streams too, are read for one page, beside those that were written
	// together with the last of them.
	Window int
}

// UsageReports keeps accepted reports by their keys. Keys are never deleted.
type UsageReports interface {
	// Get returns a report of the account by its idempotency key. ErrNotFound.
	Get(ctx context.Context, creatorID, key string) (StoredReport, error)
	// List returns part of the reports, those that were written last first. Reports have no index by their stream, so a
	// page that has read all that it may is shorter than its limit, and the next goes on behind it.
	List(ctx context.Context, f ReportFilter, page Page) (List[ListedReport], error)
	// Void takes a report out of all counts; whether it was counted already, Void sees to, and that another report with
	// its unique value counts now. The rollups must be locked, and the intake where there are such values.
	Void(ctx context.Context, report StoredReport, at time.Time) error
	// EnsurePartitions makes the partitions for the reports of this month and the next ones.
	EnsurePartitions(ctx context.Context, now time.Time) error
}

// IncomingReport is a report on its way into a stream.
type IncomingReport struct {
	ID          string
	CreatorID   string
	Key         string
	Fingerprint [16]byte
	StreamID    int64
	// StreamVersion is the version of the stream that the period was computed by.
	StreamVersion int64
	// ClockOffset is the lead of the account's clock over real time when the report was placed.
	ClockOffset time.Duration
	PeriodStart time.Time
	At          time.Time
	ReceivedAt  time.Time // real time
	Quantity    usage.Quantity
	// Ordered means that the aggregation needs more than sums, so that a voided report makes its period be counted again.
	Ordered bool
	// UniqueValue counts once in a period of the stream: the quantity of another report that has it is stored as 0. Nil
	// where every report counts.
	UniqueValue []byte
	// Dimensions are the values by which the report is told apart; none of a meter without dimensions.
	Dimensions usage.Values
}

// IntakeOutcome is the result of one report's intake.
type IntakeOutcome struct {
	// ID is the report's, or that of the one which its key had made.
	ID string
	// Duplicate means that the key was used before, and SameBody whether for the same.
	Duplicate, SameBody bool
	// Moved means that the stream or the account's clock has changed: nothing was written, and the report has to be placed
	// again.
	Moved bool
}

// UsageIntake is the hot path of reporting: reports of many requests are written in one commit.
type UsageIntake interface {
	Network // it waits for the commits of others
	// Accept returns once every report is durable, with one outcome each. RATE_LIMITED when too many wait already.
	Accept(ctx context.Context, reports []IncomingReport) ([]IntakeOutcome, error)
	// Position returns a place in the order of commits: every report before it is committed, and every later one is
	// behind it. It waits for the reports that are being written.
	Position(ctx context.Context) (int64, error)
}

// UsageRollup is the total of one period of a stream.
type UsageRollup struct {
	StreamID    int64
	CreatorID   string
	PeriodStart time.Time
	Total       usage.Total
	// AsOf is the account time of the last count; zero when nothing was counted yet.
	AsOf time.Time
	// InvoiceID is the period's invoice, "" until there is one. What was billed of the period, by that invoice and by
	// later ones, came from BilledQuantity and is BilledMinor; BilledAt is when, in real time.
	InvoiceID      string
	BilledQuantity usage.Quantity
	BilledMinor    int64
	BilledAt       time.Time
	// BilledParts lists what was billed by each rate of a price that has rates. Their amounts sum up to BilledMinor and,
	// once all is billed, their quantities to BilledQuantity.
	BilledParts []usage.Part
	// Incomplete means that reports of the period are deleted, as old ones are: its count is final.
	Incomplete bool
}

// FlushStep is one step of counting.
type FlushStep struct {
	// Number rises with every step that counted something.
	Number int64
	// Rows counts the reports that were added. More means that others wait.
	Rows int64
	More bool
}

// UsageRollups keeps the counts of periods. Reports are counted in the order of their commits, up to a position that
// UsageIntake returned, so none is skipped and none counted twice.
type UsageRollups interface {
	// Lock keeps counts as they are until the transaction ends.
	Lock(ctx context.Context) error
	// LockShared is Lock for a transaction that only reads counts: several may hold it at once.
	LockShared(ctx context.Context) error
	// Flush counts the reports that wait before a position, about limit of them.
	Flush(ctx context.Context, end int64, limit int, now time.Time) (FlushStep, error)
	// HasAfter reports whether there are reports in later periods of a stream than the one that begins at a time.
	HasAfter(ctx context.Context, s UsageStream, periodStart time.Time) (bool, error)
	// Get returns a period as it was counted last; nothing was counted of one that has no row.
	Get(ctx context.Context, s UsageStream, periodStart time.Time) (UsageRollup, error)
	// GetCurrent is Get with the reports that wait for the next step. The rollups must be locked.
	GetCurrent(ctx context.Context, s UsageStream, periodStart time.Time) (UsageRollup, error)
	// ListUnsettled returns the periods of a stream, in their order, that were billed for another quantity than they have
	// now, with the reports that wait for the next step. The rollups must be locked.
	ListUnsettled(ctx context.Context, s UsageStream) ([]UsageRollup, error)
	// ListParts returns the use of a period of a stream by the values of the meter's dimensions, with the reports that
	// wait for the next step. All use of a meter without dimensions is one part. The rollups must be locked.
	ListParts(ctx context.Context, s UsageStream, periodStart time.Time) ([]usage.Combined, error)
	// SetBilled records what was billed of a period of a stream.
	SetBilled(ctx context.Context, s UsageStream, u UsageRollup) error
	// SetPartsBilled records that nothing is left to be billed of the parts of a period, as ListParts has returned
	// them: ListUnsettled returns the period again when another part changes, even if their sum does not.
	SetPartsBilled(ctx context.Context, s UsageStream, periodStart time.Time) error
	// CountDays adds counted reports to the use of their days, about limit of them. more means that others wait.
	CountDays(ctx context.Context, limit int) (more bool, err error)
	// ListDays returns the use of the account's meters by meter and day, of one meter unless that is "", with the reports
	// that wait to be counted. Days without a report are left out.
	ListDays(ctx context.Context, creatorID, meterID string, days civil.Days) ([]MeterDay, error)
	// ListFlushedCustomers returns the customers whose counts the step changed.
	ListFlushedCustomers(ctx context.Context, step int64) ([]UsageCustomer, error)
}

// MeterDay is the use of a meter on a day.
type MeterDay struct {
	MeterID string
	usage.DayUse
}

// UsageCustomer identifies a customer by the name under which their access is read.
type UsageCustomer struct{ CreatorID, AccessKey string }

// AlertedUsage is an alert with the count that it watches.
type AlertedUsage struct {
	Alert  usage.Alert
	Stream UsageStream
	Rollup UsageRollup
}

// UsageAlerts keeps who wants to be notified of which use.
type UsageAlerts interface {
	// Insert writes a new alert.
	Insert(ctx context.Context, a usage.Alert) error
	// Get returns an alert of the account. ErrNotFound.
	Get(ctx context.Context, creatorID, id string) (usage.Alert, error)
	// List returns the account's alerts, newest first.
	List(ctx context.Context, creatorID string, page Page) (List[usage.Alert], error)
	// ListFlushed returns the alerts whose counts the step of flushing changed.
	ListFlushed(ctx context.Context, step int64) ([]AlertedUsage, error)
	// Delete forgets an alert. ErrNotFound.
	Delete(ctx context.Context, creatorID, id string) error
	// MarkReached records that an alert was reached in a period; first is false when that is on record.
	MarkReached(ctx context.Context, a usage.Alert, periodStart time.Time) (first bool, err error)
}

// CreditFilter specifies which usage credits of an account are listed. Empty members allow all.
type CreditFilter struct{ CreatorID, CustomerID, ExternalCustomerID string }

// CreditUse is the amount of a usage credit that an invoice has used.
type CreditUse struct {
	InvoiceID string
	Minor     int64
	At        time.Time
}

// UsageCredits keeps what customers have prepaid for metered use, and which invoices have used it.
type UsageCredits interface {
	// Insert writes a new credit.
	Insert(ctx context.Context, c usage.CreditState) error
	// Get returns a credit of the account. ErrNotFound.
	Get(ctx context.Context, creatorID, id string) (usage.CreditState, error)
	// Update writes a changed credit. ErrStale.
	Update(ctx context.Context, c usage.CreditState) error
	// List returns part of an account's credits, newest first.
	List(ctx context.Context, f CreditFilter, page Page) (List[usage.CreditState], error)
	// ListLeft returns the credits of a customer of which something is left. Of two transactions that use one, the Update
	// of the second is ErrStale.
	ListLeft(ctx context.Context, creatorID, customerID string) ([]usage.CreditState, error)
	// ListByCheckout returns the credits that a checkout sold.
	ListByCheckout(ctx context.Context, creatorID, checkoutID string) ([]usage.CreditState, error)
	// Rename writes the external id of a customer into their credits.
	Rename(ctx context.Context, creatorID, customerID, externalCustomerID string) error
	// InsertUse writes what an invoice has used of a credit.
	InsertUse(ctx context.Context, creatorID, invoiceID string, u usage.CreditUse, at time.Time) error
	// ListUses returns what invoices have used of a credit, the oldest first.
	ListUses(ctx context.Context, creatorID, creditID string) ([]CreditUse, error)
}

// UsageAudit reads usage for `sundry verify`. Each method returns at most limit violations of its rule.
type UsageAudit interface {
	// Miscounted lists the streams and periods whose count is not that of their reports, as "stream/period". It reads
	// every report.
	Miscounted(ctx context.Context, limit int) ([]string, error)
	// Repeated lists the streams and periods of UNIQUE meters in which other reports count than one for each value, as
	// "stream/period".
	Repeated(ctx context.Context, limit int) ([]string, error)
	// Misdivided lists the streams and periods whose parts by the values of dimensions are not what they have in all,
	// as "stream/period".
	Misdivided(ctx context.Context, limit int) ([]string, error)
	// MiscountedDays lists the meters whose days, once all reports are in them, are not what their periods have in all.
	// Meters of which reports are deleted are not compared.
	MiscountedDays(ctx context.Context, limit int) ([]string, error)
	// Misbilled lists the billing plans, each with its first such period, that have a closed period without an invoice, or
	// one whose billed quantity and amount are not what invoices and price make them.
	Misbilled(ctx context.Context, limit int) ([]string, error)
	// Unbilled lists the billing plans, each with its first such period, that have a closed period that costs more than an
	// invoice can charge, and ended ones with a period of which a part was never billed.
	Unbilled(ctx context.Context, limit int) ([]string, error)
	// Miscredited lists usage credits whose parts are not what was granted, or whose use is not that of their invoices.
	Miscredited(ctx context.Context, limit int) ([]string, error)
	// Misprepaid lists invoices whose prepaid lines are not what they used of usage credits.
	Misprepaid(ctx context.Context, limit int) ([]string, error)
	// CheckPage counts reports a second time: those that were counted since the last page, at most so many beside what was
	// written together with the last of them. Once there are no more it lists what Miscounted would, and again until it
	// is right. It belongs into a transaction of its own.
	CheckPage(ctx context.Context, reports, limit int) (found []string, more bool, err error)
}
