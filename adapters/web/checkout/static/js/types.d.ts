// The shapes that the scripts of the checkout share. Read by the type checker only.
import type { CardFormConfig } from "./processor.d.ts";

/** A time as the API writes it. */
export interface SlotView {
  startsAt: string;
  endsAt: string;
  /** How many more buyers can book it, where several share a time. */
  remainingSeats?: number;
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
  freed: SlotView[];
}

/** The JSON block of a checkout page; see pageData of the server. */
export interface PageData {
  secret: string;
  checkoutId: string;
  state: string;
  embedded: boolean;
  parents: string[];
  needsCard: boolean;
  /** Names the texts beside the button, which the payment agrees to. */
  agreement: string;
  redirectUrl: string;
  stays: boolean;
  changing: boolean;
  locale: string;
  twelveHours: boolean;
  firstWeekday: number;
  now: number;
  expiresAt: number;
  calendar: CalendarData | null;
  /** The card processor's form; null where our own takes test cards. */
  cardForm: CardFormConfig | null;
  text: Record<string, string>;
  /** Why a card was refused, by the decline code. */
  declines: Record<string, string>;
}

/** What the server responded; status 0 when the connection was lost. */
export interface Reply {
  status: number;
  body: any;
}
