/** A time in RFC 3339, in UTC. */
export type Time = string;

/** What a session sells, by stable keys. */
export interface CatalogReference {
  listing: string;
  plan?: string;
  interval?: "day" | "week" | "month" | "year";
  /** Tells prices of one interval apart, such as each month and each third. */
  intervalCount?: number;
  variant?: string;
  currency?: string;
}

/** A time of an appointment, as the lists of open times have it. */
export interface Slot {
  startsAt: Time;
  /** The buyer's, such as Europe/Paris. */
  timezone: string;
  /** May be left out where the listing has one of them only. */
  deliveryMode?: "virtual" | "in_person";
}

/** A session to open. Either `catalog`, with `externalCustomerId`, or `listingId` names what it sells. */
export interface NewSession {
  catalog?: CatalogReference;
  listingId?: string;
  variantId?: string;
  /** Of a plan that renews, such as seats. */
  quantity?: number;
  /** What the buyer may change on the page. */
  buyerMayChange?: ("interval" | "quantity")[];
  externalCustomerId?: string;
  email?: string;
  customer?: { name?: string; country?: string; postalCode?: string; taxId?: string };
  successUrl: string;
  cancelUrl?: string;
  uiMode?: "hosted" | "embedded";
  appointmentSlots?: Slot[];
  /** Answers to the questions of an appointment, by their keys. */
  answers?: Record<string, string>;
  notes?: string;
  /** Addresses of those whom the buyer invites. */
  guests?: string[];
  discountCode?: string;
  referenceId?: string;
  metadata?: Record<string, string>;
}

export type CheckoutStatus = "processing" | "paid" | "failed" | "expired";

/** A checkout session: send the buyer to `checkoutUrl`. Amounts are in the currency's minor unit. */
export interface Session {
  id: string;
  checkoutUrl: string;
  embedUrl: string | null;
  status: CheckoutStatus;
  livemode: boolean;
  expiresAt: Time;
  quantity: number;
  currency: string;
  totalInCents: number;
  referenceId: string | null;
  metadata: Record<string, string>;
}

/** The outcome of a session. */
export interface Receipt {
  checkoutId: string;
  status: CheckoutStatus;
  currency: string;
  totalInCents: number;
  refundedInCents: number;
  paidAt: Time | null;
  receiptNumber: string | null;
  receiptUrl: string | null;
  paymentId: string | null;
  subscriptionId: string | null;
  customerId: string | null;
  externalCustomerId: string | null;
  referenceId: string | null;
  lastPaymentError: { code: string; message: string } | null;
  accessVersion: number | null;
  pollAfterMs: number | null;
}

export interface ActivePlan {
  key: string;
  listingKey: string;
  status: "active" | "trialing" | "past_due";
  source: "purchase" | "subscription" | "appointment" | "grant";
  sourceId: string;
  /** Left out where one was bought. */
  quantity?: number;
  currentPeriodEnd: Time | null;
  cancelAtPeriodEnd: boolean;
}

export type Entitlement = { key: string; sources: string[]; expiresAt: Time | null } & (
  | { type: "boolean"; value: boolean }
  | { type: "limit"; value: number }
  | { type: "text"; value: string }
);

/** What a customer may use now. */
export interface Access {
  externalCustomerId: string;
  livemode: boolean;
  activePlans: ActivePlan[];
  entitlements: Entitlement[];
  credits: { key: string; unit: string; granted: number; used: number; balance: number; expiresAt: Time | null }[];
  meters: { key: string; meterId: string; subscriptionId: string; used: number; included: number }[];
  /** Rises by one with each change of access. */
  version: number;
}

export interface Address {
  line1?: string | null;
  line2?: string | null;
  city?: string | null;
  state?: string | null;
  postalCode?: string | null;
  /** ISO 3166-1 alpha-2. */
  country: string;
}

export interface NewCustomer {
  email: string;
  displayName?: string | null;
  externalCustomerId?: string;
  billingAddress?: Address | null;
  taxId?: string | null;
  /** Merged into what there is: an empty value removes its key. */
  metadata?: Record<string, string> | null;
}

export interface Customer {
  id: string;
  livemode: boolean;
  email: string | null;
  displayName: string | null;
  externalCustomerId: string | null;
  billingAddress: Address | null;
  taxId: string | null;
  metadata: Record<string, string>;
  createdAt: Time;
  erasedAt: Time | null;
  /** What `expand` asked for. */
  expanded?: Record<string, unknown>;
}

/** Goes on with a subscription that another service has begun, on a saved card. */
export interface NewSubscription {
  /** Either this or `externalCustomerId` says whose it is. */
  customerId?: string;
  externalCustomerId?: string;
  catalog: Omit<CatalogReference, "variant">;
  quantity?: number;
  /** The saved card that is charged. Without it, the customer's latest. */
  paymentMethodId?: string;
  /** Either this or `trialEndsAt` says when the first charge falls due. */
  paidUntil?: Time;
  trialEndsAt?: Time;
  /** The instant from which periods are counted. Without it, `paidUntil`. */
  anchor?: Time;
  startedAt?: Time;
  creditInCents?: number;
  cancelAtPeriodEnd?: boolean;
  metadata?: Record<string, string> | null;
}

export interface Subscription {
  id: string;
  livemode: boolean;
  status: "incomplete" | "trialing" | "active" | "past_due" | "paused" | "canceled" | "expired";
  /** Null where another service began it. */
  checkoutId: string | null;
  customerId: string;
  externalCustomerId: string | null;
  listingKey: string;
  plan: string;
  interval: "day" | "week" | "month" | "year";
  /** Of how many intervals a period is. */
  intervalCount: number;
  amountInCents: number;
  quantity: number;
  currency: string;
  currentPeriodEnd: Time;
  trialEndsAt: Time | null;
  cancelAtPeriodEnd: boolean;
  creditInCents: number;
  metadata: Record<string, string>;
  /** What `expand` asked for. */
  expanded?: Record<string, unknown>;
}

/** A report of usage. A string is sent to the digit, as a number of JSON. */
export interface Use {
  /** Either this or `externalCustomerId` says whose use it is. */
  subscriptionId?: string;
  externalCustomerId?: string;
  meter: string;
  quantity: number | string;
  /** Describe the use: the value that a `UNIQUE` meter counts, and those of a meter's dimensions. */
  properties?: Record<string, string>;
  /** Names the report and never expires. Without it, the retries of this call share a new one. */
  idempotencyKey?: string;
  timestamp?: Time;
}

export interface Reported {
  id: string | null;
  accepted: boolean;
  duplicate: boolean;
  /** Of a report in a batch which was refused. */
  error?: { code: string; message: string } | null;
}

export interface NewInvoice {
  customerId: string;
  currency: string;
  lineItems: { description: string; amountInCents: number }[];
  /** Whether the amounts contain their tax, which is the rule, or it is added to them. */
  taxBehavior?: "inclusive" | "exclusive";
  periodStart?: string;
  periodEnd?: string;
  metadata?: Record<string, string>;
}

export interface Invoice {
  id: string;
  number: string;
  customerId: string;
  status: "open" | "failed" | "paid";
  currency: string;
  subtotalInCents: number;
  taxInCents: number;
  totalInCents: number;
  declineCode: string | null;
  nextAttemptAt: Time | null;
  hostedUrl: string;
  pdfUrl: string;
  paidAt: Time | null;
  metadata: Record<string, string>;
}

/** A refund of the payment that either id names. Without an amount it is all that is left. */
export interface NewRefund {
  paymentId?: string;
  checkoutId?: string;
  amountInCents?: number;
  reason: string;
  keepAccess?: boolean;
  subscription?: "cancel_now" | "cancel_at_period_end" | "keep";
  metadata?: Record<string, string>;
}

export interface Refund {
  id: string;
  paymentId: string;
  amountInCents: number;
  currency: string;
  reason: string;
  status: string;
  metadata: Record<string, string>;
}

/** What happened in your account. The members of `data` are those of `GET /v1/event-types`. */
export interface Event {
  id: string;
  type: string;
  createdAt: Time;
  livemode: boolean;
  data: Record<string, unknown>;
}

/** A page of events. Keep `nextCursor` with what you did with them, and no event is missed or done twice. */
export interface EventPage {
  data: Event[];
  hasMore: boolean;
  nextCursor: string;
}
