// What a calendar works with. Read by the type checker only.

/** A time of the listing, in milliseconds. */
export interface Slot {
  start: number;
  end: number;
  /** How many more buyers can book it, where several share a time. */
  seats?: number;
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
  /** The first day of the reader's week: 0 is Sunday. */
  firstWeekday: number;
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
  /** Times that are open to the buyer alone once they give up what they hold. */
  freed?: Slot[];
  /** Sends what was chosen; the calendar is locked until it returns. */
  submit(picks: Slot[], zone: string): Promise<void>;
  /** Called when the reader chooses another clock. */
  onClock?(twelveHours: boolean): void;
}
