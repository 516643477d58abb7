import { AppError, type ErrorCode } from '../errors.ts';
import type { HeardSession } from './sessions.ts';

/** The link of the chain that refused a call (spec 3 §5.2). */
export type EnvelopeFault =
  | 'malformed'
  | 'session_inactive'
  /** The session was active when the call began. */
  | 'session_revoked'
  | 'session_expired'
  | 'token_invalid'
  | 'signature_invalid'
  | 'not_fresh'
  | 'replayed'
  | 'out_of_session'
  /** A header or a member names another tenant than that of the session, which is proved. */
  | 'tenant_mismatch';

const codes: Readonly<Record<EnvelopeFault, ErrorCode>> = {
  malformed: 'invalid',
  session_inactive: 'forbidden',
  session_revoked: 'forbidden',
  session_expired: 'unauthenticated',
  token_invalid: 'unauthenticated',
  signature_invalid: 'unauthenticated',
  not_fresh: 'unauthenticated',
  replayed: 'unauthenticated',
  out_of_session: 'forbidden',
  tenant_mismatch: 'forbidden',
};

/** A signed call is refused before any policy is looked at. */
export class EnvelopeError extends AppError {
  override readonly name = 'EnvelopeError';
  readonly fault: EnvelopeFault;
  /** The session that the call named, where it has one. */
  readonly session: HeardSession | undefined;
  /** Another tenant than that of the session: of a token that is valid, or named by a proved call. */
  readonly asserted: string | undefined;
  /** Id of the JSON-RPC request, where a malformed one has it. */
  readonly id: string | number | undefined;

  constructor(
    fault: EnvelopeFault,
    message: string,
    about: { readonly session?: HeardSession; readonly asserted?: string; readonly id?: string | number } = {},
  ) {
    super(codes[fault], message, { reason: fault });
    this.fault = fault;
    this.session = about.session;
    this.asserted = about.asserted;
    this.id = about.id;
  }
}
