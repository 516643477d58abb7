import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import { aborted } from '../../lib/aborted.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import {
  type CredentialFinding,
  createProblemFinder,
  credentialService,
  type FindCredentialProblem,
  readCredentialQuery,
  type SecretReader,
} from '../../lib/credentials/index.ts';
import { AppError } from '../../lib/errors.ts';

interface Asked {
  readonly bus: Pick<EventBus, 'serve'>;
  readonly specs: { getByUid(uid: string): ApiSpec | undefined };
}

/** `run` answers until `signal` aborts, and never rejects. */
interface CredentialAnswers {
  run(signal: AbortSignal): Promise<void>;
}

const graceMs = 1_000;

/**
 * Tells the controllers, which read no Secret, whether the credential of an ApiSpec is there. The question names the ApiSpec and
 * no Secret: its sender learns of no other Secrets (ADR 0152).
 */
export function createCredentialAnswers(secrets: SecretReader, { bus, specs }: Asked): CredentialAnswers {
  const findProblem = createProblemFinder(secrets);
  return {
    async run(signal) {
      const responder = bus.serve({ service: credentialService }, async ({ body }) =>
        JSON.stringify(await findingOf(specs, findProblem, body)),
      );
      await aborted(signal);
      await responder.close(graceMs);
    },
  };
}

/** @throws AppError `unavailable` where this replica has not seen the ApiSpec as the asker has. */
async function findingOf(
  specs: Asked['specs'],
  findProblem: FindCredentialProblem,
  body: Uint8Array,
): Promise<CredentialFinding> {
  const { uid, generation } = readCredentialQuery(body);
  const spec = specs.getByUid(uid);
  if (spec === undefined || (spec.metadata.generation ?? 0) < generation)
    throw new AppError('unavailable', 'this replica has not seen that ApiSpec yet');
  const problem = await findProblem(spec);
  return problem === undefined ? {} : { problem };
}
