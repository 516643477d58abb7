import { AppError, type ErrorCode } from '../errors.ts';

/** The link of the chain that refused a call (spec 3 §5.2). */
export type EnvelopeFault =
  | 'malformed'
  | 'session_inactive'
  | 'session_expired'
  | 'token_invalid'
  | 'signature_invalid'
  | 'not_fresh'
  | 'replayed'
  | 'out_of_session';

const codes: Readonly<Record<EnvelopeFault, ErrorCode>> = {
  malformed: 'invalid',
  session_inactive: 'forbidden',
  session_expired: 'unauthenticated',
  token_invalid: 'unauthenticated',
  signature_invalid: 'unauthenticated',
  not_fresh: 'unauthenticated',
  replayed: 'unauthenticated',
  out_of_session: 'forbidden',
};

/** A signed call is refused before any policy is looked at. */
export class EnvelopeError extends AppError {
  override readonly name = 'EnvelopeError';
  readonly fault: EnvelopeFault;

  constructor(fault: EnvelopeFault, message: string) {
    super(codes[fault], message, { reason: fault });
    this.fault = fault;
  }
}
