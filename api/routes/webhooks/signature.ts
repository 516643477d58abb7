import { createHmac, timingSafeEqual } from 'node:crypto';
import { HttpError } from '../../../lib/http/http-error.ts';

/** Faults of the signature of a webhook (spec 1 §7.2). */
export type SignatureProblem =
  | 'missing_signature'
  | 'malformed_signature'
  | 'invalid_hex'
  | 'secret_not_found'
  | 'invalid_signature';

const statuses: Readonly<Record<SignatureProblem, 400 | 401>> = {
  missing_signature: 401,
  malformed_signature: 400,
  invalid_hex: 400,
  secret_not_found: 401,
  invalid_signature: 401,
};

/** The claim of a webhook before its body is there, and the key that will check it. */
interface SignedHead {
  /** Each value of `X-Svc-Signature`, as often as it was sent. */
  readonly signatures: readonly string[];
  /** Undefined where none is configured for the source. */
  readonly secret: string | undefined;
  /** Default: sha256, that of `X-Svc-Signature`. */
  readonly algorithm?: Algorithm;
}

export interface SignedBody extends SignedHead {
  readonly body: Uint8Array;
}

/** The hash of a signature, which is also its scheme: each header has its own, so that no value passes in both. */
type Algorithm = 'sha256' | 'sha512';
const plain: Algorithm = 'sha256';
const bound: Algorithm = 'sha512';

/**
 * The fault, in the order of requirements AMB-045 and AMB-152; undefined where the signature is that of the bytes
 * under the secret. The digests are compared once, by `equal`: in constant time. Pure.
 */
export function signatureProblem(
  { signatures, secret, body, algorithm = plain }: SignedBody,
  equal = timingSafeEqual,
): SignatureProblem | undefined {
  const problem = headProblem({ signatures, secret, algorithm });
  if (problem !== undefined || secret === undefined) return problem;
  const given = Buffer.from(hexOf(signatures[0] ?? '', algorithm), 'hex');
  const wanted = createHmac(algorithm, secret).update(body).digest();
  return given.length === wanted.length && equal(given, wanted) ? undefined : 'invalid_signature';
}

/** The bytes that a sender signs with source and key, and the key that will check them. */
interface BoundBody extends SignedBody {
  readonly source: string;
  readonly key: string | undefined;
}

/**
 * The fault of `X-Svc-Bound-Signature`, of which `signatures` holds the values: HMAC-SHA512 over the source, a line
 * feed, the key or nothing, a line feed, and the body. Undefined where it is right, or was not sent. It is another hash than
 * that of `X-Svc-Signature`, where it would be right for a body that begins with source and key.
 */
export function boundProblem({ source, key = '', body, ...head }: BoundBody): SignatureProblem | undefined {
  if (head.signatures.length === 0) return undefined;
  return signatureProblem({
    ...head,
    algorithm: bound,
    body: Buffer.concat([Buffer.from(`${source}\n${key}\n`), body]),
  });
}

/** The digest that a signature of a body says, in one spelling. */
export const digestOf = (signature: string): string => hexOf(signature, plain).toLowerCase();

const hexOf = (signature: string, algorithm: Algorithm): string => signature.slice(schemeOf(algorithm).length);
const schemeOf = (algorithm: Algorithm): string => `${algorithm}=`;

/** Faults that do not depend on the body. */
export function headProblem({ signatures, secret, algorithm = plain }: SignedHead): SignatureProblem | undefined {
  return headerProblem(signatures, schemeOf(algorithm)) ?? (secret === undefined ? 'secret_not_found' : undefined);
}

function headerProblem([signature, ...others]: readonly string[], scheme: string): SignatureProblem | undefined {
  if (others.length > 0) return 'malformed_signature';
  if (signature === undefined || signature === '') return 'missing_signature';
  if (!signature.startsWith(scheme) || signature === scheme) return 'malformed_signature';
  const hex = signature.slice(scheme.length);
  return hex.length % 2 === 0 && /^[0-9A-Fa-f]+$/.test(hex) ? undefined : 'invalid_hex';
}

/** The answer says which check failed and nothing else. */
export function signatureError(problem: SignatureProblem): HttpError {
  const status = statuses[problem];
  return new HttpError({ code: status === 401 ? 'unauthenticated' : 'invalid', status, error: problem });
}
