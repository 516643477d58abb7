import { conditionTypes, type CredentialsReason } from '../../crds/conditions.ts';
import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { Condition } from '../../crds/schema/condition.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { hasCredentials } from '../../lib/api-spec/index.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { askCredentialProblem } from '../../lib/credentials/index.ts';
import { keyOf } from '../../lib/kube/index.ts';
import { nextCondition } from '../runtime/next-condition.ts';
import type { ReconcileResult } from '../runtime/outcome.ts';

/** A Secret wakes no controller. One that is missing is asked for again soon, since its maker waits for the answer. */
const againMs = { found: 600_000, missing: 30_000 } as const;

/** The condition `CredentialsFound` of an ApiSpec, and when to ask again. */
interface CredentialsVerdict {
  readonly condition?: Condition;
  readonly again: ReconcileResult;
}

interface AskDeps {
  readonly bus: Pick<EventBus, 'request'>;
  readonly now: () => number;
}

/** Asks the gateway. Where it gives no answer, the condition of before holds: it may be away, or not installed. */
export async function credentialsOf({ bus, now }: AskDeps, spec: ApiSpec): Promise<CredentialsVerdict> {
  const finding = await askCredentialProblem({ bus }, spec);
  if (finding === undefined) return { ...keptCredentials(spec), again: lookAgain(againMs.missing) };
  const { problem } = finding;
  if (problem !== undefined) {
    const condition = credentialsCondition(spec, { reason: 'CredentialMissing', message: problem }, now());
    return { condition, again: lookAgain(againMs.missing) };
  }
  const message = 'the Secret of the credentials has what their kind needs';
  const condition = credentialsCondition(spec, { reason: 'CredentialFound', message }, now());
  return { condition, again: lookAgain(againMs.found) };
}

const lookAgain = (requeueAfterMs: number): ReconcileResult => ({ requeueAfterMs, reason: 'Credentials' });

type Judged = Parameters<typeof nextCondition>[0];

function credentialsCondition(
  object: Judged,
  { reason, message }: { readonly reason: CredentialsReason; readonly message: string },
  now: number,
): Condition {
  const status = reason === 'CredentialFound' ? 'True' : 'False';
  const verdict = { type: conditionTypes.credentialsFound, status, reason, message: message.slice(0, 1_000) } as const;
  return nextCondition(object, verdict, now);
}

/** The condition that was found for this generation, whose credentials are those of now. */
export function keptCredentials({ metadata, spec, status }: ApiSpec): { readonly condition?: Condition } {
  if (!hasCredentials(spec)) return {};
  const condition = status?.conditions?.find(({ type }) => type === conditionTypes.credentialsFound);
  return condition === undefined || condition.observedGeneration !== metadata.generation ? {} : { condition };
}

/** The same condition of a tool whose calls lack the credential of its ApiSpec; none where they have it. */
export function missingCredentials(workflow: ToolWorkflow, apiSpec: ApiSpec | undefined, now: number): Condition[] {
  const { condition } = apiSpec === undefined ? {} : keptCredentials(apiSpec);
  if (apiSpec === undefined || condition?.status !== 'False') return [];
  const message = `ApiSpec ${keyOf(apiSpec)}: ${condition.message}`;
  return [credentialsCondition(workflow, { reason: 'CredentialMissing', message }, now)];
}
