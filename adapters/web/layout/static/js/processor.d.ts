// What the pages use of the card processor's script, and what the server passes to them for it. Read by the type checker only.

/** What the card processor's form works with; see CardFormData of the server. */
export interface CardFormConfig {
  publishableKey: string;
  scriptUrl: string;
  locale: string;
  currency: string;
  /** Minor units; 0 when the card is only saved. */
  amount: number;
  /** How many of the processor's units a minor unit is. */
  unit: number;
  /** The card is charged again later. */
  saves: boolean;
  /** What to show when the form cannot be loaded. */
  unreachable: string;
  /** Our own form asks for name, e-mail and address. */
  asks?: boolean;
}

/** Who pays, as our own form asked. */
export interface Billing {
  name: string | null;
  email: string | null;
  phone: null;
  address: { country: string | null; postal_code: string | null; line1: null; line2: null; city: null; state: null };
}

/** What became of a step of the form: an error in the reader's language, or none. */
interface Outcome {
  error?: { message: string };
}

export interface PaymentElement {
  on(event: "ready" | "loaderror", act: () => void): void;
  mount(target: HTMLElement): void;
  focus(): void;
}

export interface Elements {
  create(kind: "payment", options: object): PaymentElement;
  update(changes: { amount: number }): void;
  submit(): Promise<Outcome>;
}

export interface Processor {
  elements(options: object): Elements;
  createConfirmationToken(order: { elements: Elements; params: object }): Promise<Outcome & { confirmationToken?: { id: string } }>;
  handleNextAction(action: { clientSecret: string }): Promise<unknown>;
}

declare global {
  interface Window {
    Stripe(publishableKey: string, options: { locale: string }): Processor;
  }
}
