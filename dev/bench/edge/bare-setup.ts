/** Settings of the bare server, as JSON in its first argument. */
export interface BareSetup {
  readonly port: number;
  /** Address of its page with the number of its streams. */
  readonly pagesPort: number;
  readonly natsUrl: string;
}

/** A message to `<subject>.<number of the host>` is written to the host's stream; what comes back is the answer. */
export const bareSubject = 'bare.host';
