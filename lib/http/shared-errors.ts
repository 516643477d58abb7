import type { Contract, ErrorContract } from './contract.ts';

/** Parts of an operation from which its errors follow. */
type Shape = Pick<Contract, 'access' | 'errors' | 'body'>;

/** A common refusal of operations: it follows from a part of the contract, not from the operation's work. */
interface SharedError extends ErrorContract {
  readonly of: (contract: Shape) => boolean;
}

const always = (): boolean => true;
const hasCaller = ({ access }: Shape): boolean => access === 'bearer';
const hasBody = ({ body }: Shape): boolean => body !== undefined;
const isBehindSomething = ({ access }: Shape): boolean => access !== 'public';

const unauthorized =
  'The bearer token is absent or not valid. The gateway says `invalid token`, with the code `invalid_token`, where it is not valid.';

export const sharedErrors: readonly SharedError[] = [
  {
    status: 400,
    error: 'invalid_request',
    when: 'A parameter, header or the body is not as described; `details` names each place.',
    of: always,
  },
  { status: 401, error: 'unauthorized', when: unauthorized, of: hasCaller },
  { status: 403, error: 'forbidden', when: 'The caller may not do this, or belongs to no tenant.', of: hasCaller },
  { status: 408, error: 'request_timeout', when: 'The request did not arrive in time.', of: hasBody },
  { status: 413, error: 'payload_too_large', when: 'The body is larger than allowed.', of: hasBody },
  {
    status: 415,
    error: 'unsupported_media_type',
    when: 'The body is of another media type, or compressed.',
    of: hasBody,
  },
  { status: 429, error: 'rate_limited', when: 'The tenant has sent too many requests.', of: isBehindSomething },
  { status: 500, error: 'internal', when: 'Something is wrong with the service.', of: always },
  {
    status: 431,
    error: 'headers_too_large',
    when: 'The address and the headers are larger than 16 KiB.',
    of: always,
  },
  {
    status: 503,
    error: 'unavailable',
    when: 'Something that the operation needs cannot be reached; try again.',
    of: isBehindSomething,
  },
  { status: 504, error: 'timeout', when: 'Something that the operation needs took too long.', of: isBehindSomething },
];

/** Every error of an operation, by status: its own, and those that every operation like it shares. */
export function errorsOf(contract: Shape): readonly ErrorContract[] {
  const own = new Set(contract.errors.map(({ status, error }) => `${status} ${error}`));
  // An operation whose errors have a form of their own answers a status in that form alone.
  const formed = new Set(contract.errors.filter(({ rpc }) => rpc !== undefined).map(({ status }) => status));
  const shared = sharedErrors.filter(
    ({ of, status, error }) => of(contract) && !own.has(`${status} ${error}`) && !formed.has(status),
  );
  return [...contract.errors, ...shared].sort((a, b) => a.status - b.status);
}
