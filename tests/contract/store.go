// Package contract holds one suite per port: Store, Processor, Dispatcher, Mailer, RateLimiter, SlotLocks, Clock. Every
// adapter of a port runs the port's suite, so that the adapters cannot drift apart; an adapter of your own runs it from
// a test of your own. contract_test.go shows how.
package contract

import (
	"context"
	"testing"
	"time"

	"sundry/ports"
)

// StoreAdapter lists the interfaces of a database that the product needs: transactions and repositories, the workers'
// queue, the three hot paths, and what identifies the processes over one database.
type StoreAdapter interface {
	ports.Store
	ports.TaskQueue
	ports.DeliveryStore
	ports.MailStore
	ports.AccessReader
	ports.UsageIntake
	// Snapshot runs fn, whose reads all see one moment.
	Snapshot(ctx context.Context, since time.Time, fn func(ctx context.Context) error) error
	// NotifyWorkers wakes the workers of other processes, ListenForTasks waits for that.
	NotifyWorkers(classes ...ports.TaskClass)
	ListenForTasks(ctx context.Context, wake func(classes ...ports.TaskClass)) error
	// RunAsLeader runs work in one process at a time.
	RunAsLeader(ctx context.Context, name string, work func(ctx context.Context))
}

// StoreOptions are the choices that are made when a store is opened; nil leaves one out.
type StoreOptions struct {
	// ClassOf specifies which class each kind of task belongs to.
	ClassOf func(kind string) ports.TaskClass
	// KeyOf specifies which concurrency key each task has.
	KeyOf func(kind, subject, creatorID string) string
	// OnScheduled is called after a commit that made tasks due now, with their classes.
	OnScheduled func(classes ...ports.TaskClass)
}

// Database is one migrated, empty database.
type Database struct {
	// Open is a new process over the database: a store that is closed when the test ends.
	Open func(t *testing.T, o StoreOptions) StoreAdapter
	// OneProcess is true for a database that only one process may write.
	OneProcess bool
	// Disconnect cuts every connection, as a restart of the database does. Unused with OneProcess.
	Disconnect func(t *testing.T)
}

type storeCases map[string]func(t *testing.T, db Database)

// Store is the suite of ports.Store, ports.TaskQueue, ports.UsageIntake and the repositories. Each case has a
// database of its own. It has no case for images, busy calendars, web sessions, account events, webhook announcements
// and the sandbox's charges and disputes, nor for the Audit of most areas: the suites of their modules run these over
// every store that tests/testdb knows.
func Store(t *testing.T, newDatabase func(t *testing.T) Database) {
	t.Helper()
	for area, cases := range map[string]storeCases{
		"access": accessCases(), "aggregates": aggregateCases(), "booking": bookingCases(), "catalog": catalogCases(),
		"identity":    identityCases(),
		"idempotency": idempotencyCases(), "invoicing": documentCases(), "mail": mailCases(),
		"processes": processCases(), "sandbox": clockCases(),
		"checkout": checkoutCases(), "files": fileCases(), "imports": importCases(),
		"customers": customerCases(), "payments": paymentCases(),
		"sorts": sortCases(), "subscriptions": subscriptionCases(),
		"tasks": taskCases(), "transactions": transactionCases(), "treasury": treasuryCases(),
		"usage": usageCases(), "webhooks": webhookCases(),
	} {
		t.Run(area, func(t *testing.T) {
			t.Parallel()
			for name, test := range cases {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, newDatabase(t))
				})
			}
		})
	}
}

func accessCases() storeCases {
	return storeCases{
		"grants come back as they went":     grantsComeBackAsTheyWent,
		"a source grants once":              aSourceGrantsOnce,
		"ended grants and stale ones":       endedGrantsAndStaleOnes,
		"grants page by page":               grantsAreListedPageByPage,
		"snapshots follow one another":      snapshotsFollowOneAnother,
		"the lock makes writers take turns": theLockMakesWritersTakeTurns,
		"the lock of no document excludes":  theLockOfNoDocumentExcludesOthers,
		"scan sees every customer once":     scanSeesEveryCustomerOnce,
		"credit uses are remembered":        creditUsesAreRemembered,
	}
}

func bookingCases() storeCases {
	return storeCases{
		"scheduling comes back as it went":                       schedulingComesBackAsItWent,
		"the calendar's version rises with each change":          theCalendarsVersionRisesWithEachChange,
		"a reservation is read as written":                       aReservationIsReadAsWritten,
		"live reservations never overlap":                        liveReservationsNeverOverlap,
		"time released is free and does not come back by itself": timeGivenBackIsFreeAndDoesNotComeBackByItself,
		"live reservations block the interval":                   liveReservationsBlockTheInterval,
		"many want the same time":                                manyWantTheSameTime,
		"an appointment comes back as it went":                   anAppointmentComesBackAsItWent,
		"the audit finds unmatched reservations":                 theAuditFindsUnmatchedReservations,
		"hosted meetings are kept by room":                       hostedMeetingsAreKeptByRoom,
		"meeting accounts are one at each provider":              meetingAccountsAreOneAtEachProvider,
	}
}

func catalogCases() storeCases {
	return storeCases{
		"discounts come back as they went":                        discountsComeBackAsTheyWent,
		"redemptions are one per session":                         redemptionsAreOnePerSession,
		"a discount is counted in turn":                           aDiscountIsCountedInTurn,
		"a listing comes back as it went":                         aListingComesBackAsItWent,
		"a listing is updated from its latest revision only":      aListingIsUpdatedFromItsLatestRevisionOnly,
		"slugs are the platform's and catalog keys the account's": slugsAreThePlatformsAndCatalogKeysTheAccounts,
		"listings of every status are listed to their account":    mineListsEveryStatusOfOneAccount,
		"search finds active listings":                            searchFindsActiveListings,
		"plans come back oldest first":                            plansComeBackOldestFirst,
		"payment links come back as they went":                    paymentLinksComeBackAsTheyWent,
	}
}

func identityCases() storeCases {
	return storeCases{
		"creators are found by id and address":               creatorsAreFound,
		"creators are changed from the latest revision only": creatorsAreChangedOnce,
		"accounts are listed with their sales":               accountsAreListed,
		"limits of accounts are kept":                        limitsAreKept,
		"what operators did only grows":                      actionsOnlyGrow,
		"what an account uses is counted":                    usesAreCounted,
		"API keys are found by digest and revoked":           apiKeysAreFound,
		"the last use of a key only moves forward":           theLastUseOfAKeyOnlyMovesForward,
		"refresh families rotate":                            refreshFamiliesRotate,
		"members are kept, one per address":                  membersAreKept,
		"second steps are of users":                          secondStepsAreOfUsers,
		"saved filters are of users and lists":               savedFiltersAreOfUsersAndLists,
		"sign-ins of one user end alone":                     signInsEndAlone,
	}
}

func idempotencyCases() storeCases {
	cases := storeCases{
		"an idempotency key has one response":                            anIdempotencyKeyHasOneResponse,
		"a claimed idempotency key is locked until the transaction ends": aClaimedIdempotencyKeyIsLockedUntilTheTransactionEnds,
	}
	for name, test := range leaseCases() {
		cases[name] = func(t *testing.T, db Database) { test(keyStore{t, db.Open(t, StoreOptions{})}) }
	}
	return cases
}

func documentCases() storeCases {
	return storeCases{
		"an invoice is made once per key and period":   anInvoiceIsMadeOncePerKeyAndPeriod,
		"numbers have no gap":                          numbersHaveNoGap,
		"a document's number is given once":            aDocumentNumberIsGivenOnce,
		"a number that is not committed is used again": aNumberThatIsNotCommittedIsUsedAgain,
		"accounts do not wait for each other's number": accountsDoNotWaitForEachOthersNumber,
		"issued documents are read page by page":       issuedDocumentsAreReadPageByPage,
		"void credit notes are those of their time":    voidCreditNotesAreThoseOfTheirTime,
	}
}

func mailCases() storeCases {
	return storeCases{
		"mails are one per kind and cause":             mailsAreOnePerKindAndCause,
		"a mail remembers what became of it":           aMailRemembersWhatBecameOfIt,
		"settled mails end their tasks":                settledMailsEndTheirTasks,
		"a recipient's limit holds at any concurrency": aRecipientsLimitHolds,
	}
}

func processCases() storeCases {
	return storeCases{
		"one process leads and the next takes over": oneProcessLeadsAndTheNextTakesOver,
		"workers of other processes are notified":   workersOfOtherProcessesAreNotified,
	}
}

func clockCases() storeCases {
	return storeCases{
		"an account's clock goes forward only":                    anAccountsClockGoesForwardOnly,
		"retime moves the waiting tasks of a moved clock":         retimeMovesTheWaitingTasksOfAMovedClock,
		"retime leaves a retry to real time":                      retimeLeavesARetryToRealTime,
		"retime ends the pauses that a clock has passed":          retimeEndsThePausesThatAClockHasPassed,
		"claim next goes through one account by due time":         claimNextGoesThroughOneAccountByDueTime,
		"the next task of an account keeps to the pauses of keys": claimNextKeepsToThePausesOfKeys,
		"one holder moves a clock at a time":                      oneHolderMovesAClockAtATime,
		"a held clock leaves its tasks to the advance":            aHeldClockLeavesItsTasksToTheAdvance,
		"claim along takes one kind up to the next of another":    claimAlongTakesOneKind,
	}
}

func transactionCases() storeCases {
	return storeCases{
		"what a transaction lacks is fetched before it runs again": whatATransactionLacksIsFetchedBeforeItRunsAgain,
		"what cannot be fetched is the error":                      whatCannotBeFetchedIsTheError,
		"a joined part reports its refused write":                  aJoinedPartReportsItsRefusedWrite,
		"a snapshot shows one moment":                              aSnapshotShowsOneMoment,
		"a transaction that lacks something for good ends":         aTransactionThatLacksSomethingForGoodEnds,
	}
}

func taskCases() storeCases {
	return storeCases{
		"a task is claimed when due and by one worker at a time":      aTaskIsClaimedWhenDueAndByOneWorkerAtATime,
		"claims are oldest first and bounded":                         claimsAreOldestFirstAndBounded,
		"classes are claimed apart":                                   classesAreClaimedApart,
		"scheduling again moves the task and fences a run under way":  schedulingAgainMovesTheTaskAndFencesARunUnderWay,
		"scheduling after a cancel fences a run under way":            schedulingAfterACancelFencesARunUnderWay,
		"the last change of a task counts":                            theLastChangeOfATaskCounts,
		"a rolled back transaction schedules nothing":                 aRolledBackTransactionSchedulesNothing,
		"postpone releases the task":                                  postponeReleasesTheTask,
		"a failure is recorded and tried again":                       aFailureIsRecordedAndTriedAgain,
		"a released task is due at once and the claim does not count": aReleasedTaskIsDueAtOnceAndTheClaimDoesNotCount,
		"load prolongs a short lease":                                 loadProlongsAShortLease,
		"rival workers claim each task once":                          rivalWorkersClaimEachTaskOnce,
		"the next due time is known":                                  theNextDueTimeIsKnown,
		"workers are woken for what falls due soon":                   workersAreWokenForWhatFallsDueSoon,
		"the backlog counts what is due":                              theBacklogCountsWhatIsDue,
		"ensure leaves a waiting task alone":                          ensureLeavesAWaitingTaskAlone,
		"an account sees its tasks by state":                          anAccountSeesItsTasksByState,
		"a failed task is run soon unless it changed":                 aFailedTaskIsRunSoonUnlessItChanged,
		"a key never has more running than it may":                    aKeyNeverHasMoreRunningThanItMay,
		"little capacity goes to the keys that have least":            littleCapacityGoesToTheKeysThatHaveLeast,
		"what is claimed together begins key by key":                  whatIsClaimedTogetherBeginsKeyByKey,
		"a late key has its turn beside any number of busy ones":      aLateKeyHasItsTurnBesideAnyNumberOfBusyOnes,
		"a key may have its own limit":                                aKeyMayHaveItsOwnLimit,
		"a key is claimed no faster than its rate":                    aKeyIsClaimedNoFasterThanItsRate,
		"a paused key waits and is then tried one at a time":          aPausedKeyWaitsAndIsThenTriedOneAtATime,
		"processes keep to a key's limit together":                    processesKeepToAKeysLimitTogether,
	}
}

func webhookCases() storeCases {
	return storeCases{
		"events are listed in the order of their commits":     eventsAreListedInTheOrderOfTheirCommits,
		"a poller misses no event of many at once":            aPollerMissesNoEventOfManyAtOnce,
		"events are found by type and time, oldest first too": eventsAreFoundByTypeAndTime,
		"a due delivery is read whole":                        aDueDeliveryIsReadWhole,
		"a delivery is recorded whole or not at all":          aDeliveryIsRecordedWholeOrNotAtAll,
		"many deliveries are recorded once each":              manyDeliveriesAreRecordedOnceEach,
	}
}
