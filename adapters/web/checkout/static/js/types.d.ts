// The shapes that the scripts of the checkout share. Read by the type checker only.
import type { CardFormConfig } from "./processor.d.ts";

/** A time of the listing, in milliseconds. */
export interface Slot {
  start: number;
  end: number;
}

/** A time as the API writes it. */
export interface SlotView {
  startsAt: string;
  endsAt: string;
}

/** A time that the session holds for this buyer. */
export interface HeldSlot extends SlotView {
  timezone: string;
  mode: string;
}

/** What the calendar must know; see calendarData of the server. */
export interface CalendarData {
  listingId: string;
  variantId: string;
  minutes: number;
  sessions: number;
  modes: string[];
  gapMinutes: number;
  zone: string;
  until: string;
  held: HeldSlot[];
}

/** The JSON block of a checkout page; see pageData of the server. */
export interface PageData {
  secret: string;
  checkoutId: string;
  state: string;
  embedded: boolean;
  parents: string[];
  needsCard: boolean;
  redirectUrl: string;
  stays: boolean;
  changing: boolean;
  locale: string;
  twelveHours: boolean;
  now: number;
  expiresAt: number;
  calendar: CalendarData | null;
  /** The card processor's form; null where our own takes test cards. */
  cardForm: CardFormConfig | null;
  text: Record<string, string>;
}

/** What the server responded; status 0 when the connection was lost. */
export interface Reply {
  status: number;
  body: any;
}

/** Where a calendar reads open times. A refusal is thrown as an UnavailableError. */
export interface Source {
  dates(from: string, to: string, zone: string): Promise<string[]>;
  slots(day: string, zone: string): Promise<Slot[]>;
}

/** What a calendar is made with. */
export interface CalendarOptions {
  source: Source;
  words: Record<string, string>;
  locale: string;
  twelveHours: boolean;
  /** The time of the account's clock, in milliseconds. */
  now: () => number;
  /** How many times are chosen. */
  sessions: number;
  gapMinutes: number;
  /** The last day of the seller's that may be open. */
  until: string;
  /** The zone that the times are shown in at first. */
  zone: string;
  /** The seller's zone, which is offered beside the reader's. */
  sellerZone: string;
  /** Times that are the buyer's already. */
  held: Slot[];
  /** Sends what was chosen; the calendar is locked until it returns. */
  submit(picks: Slot[], zone: string): Promise<void>;
  /** Called when the reader chooses another clock. */
  onClock?(twelveHours: boolean): void;
}
