import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { EventBus } from '../bus/index.ts';
import { AppError } from '../errors.ts';
import { isJsonObject } from '../json-object.ts';

/** Address on the bus under which the gateway, which alone reads Secrets, says whether the credential of an ApiSpec is there. */
export const credentialService = 'gateway.credential';

/** An ApiSpec as the asker knows it. The answer is about no earlier one. */
interface CredentialQuery {
  readonly uid: string;
  readonly generation: number;
}

/** Absent `problem`: the Secret has what it needs. */
export interface CredentialFinding {
  readonly problem?: string;
}

/** Longer than the gateway reads a Secret again that was refused. */
const waitMs = 5_000;

/** The finding of the gateway; undefined where none says so in time, as where no gateway is installed. */
export async function askCredentialProblem(
  { bus }: { readonly bus: Pick<EventBus, 'request'> },
  { metadata: { uid = '', generation = 0 } }: Pick<ApiSpec, 'metadata'>,
): Promise<CredentialFinding | undefined> {
  const query: CredentialQuery = { uid, generation };
  try {
    const answer = await bus.request({ service: credentialService }, JSON.stringify(query), { timeoutMs: waitMs });
    const finding: unknown = JSON.parse(Buffer.from(answer).toString('utf8'));
    if (!isJsonObject(finding)) return undefined;
    return typeof finding['problem'] === 'string' ? { problem: finding['problem'] } : {};
  } catch {
    return undefined;
  }
}

/** @throws AppError `invalid`. */
export function readCredentialQuery(bytes: Uint8Array): CredentialQuery {
  const query: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
  if (isJsonObject(query)) {
    const { uid, generation } = query;
    if (typeof uid === 'string' && typeof generation === 'number') return { uid, generation };
  }
  throw new AppError('invalid', 'the question for a credential is not of its form');
}
