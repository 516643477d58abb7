import type { AgentExecutionReason } from '../../../crds/conditions.ts';
import type { AgentExecution, AgentResult } from '../../../crds/schema/agent-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import { AppError, messageOf } from '../../../lib/errors.ts';
import { finished } from '../../../lib/execution/finished.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import {
  findObject,
  isAbsent,
  isConflict,
  isFailedTest,
  isInvalid,
  isTooLarge,
  type KubeClient,
} from '../../../lib/kube/index.ts';
import { storedBytes } from '../../../lib/kube/stored-bytes.ts';
import type { Logger } from '../../../lib/logger.ts';
import { doublingWhile, tryPaced } from '../../../lib/retry.ts';

interface OutcomeDeps {
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatch'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const doubling = doublingWhile({ baseMs: 100, maxMs: 5_000, times: 20 });
/** Bytes of an execution with its outcome: etcd takes 1.5 MiB, and the status comes on top. */
const objectBytes = 1_500_000;
const messageLength = 2_048;

/**
 * Says once how an execution ended. The record of the conversation has it already: a replica that dies before this is done
 * leaves it to the next one. An outcome that Kubernetes does not store is replaced by a failure which says so. An execution
 * that has ended otherwise keeps its end: nothing is written then. `inputBytes`: where `execution` comes from a cache, which
 * leaves its input out.
 * @throws KubeError where Kubernetes is away for long; AppError `OutcomeRefused` where it refuses the failure as well. A later
 * attempt may do what neither could.
 */
export async function writeOutcome(
  deps: OutcomeDeps,
  execution: AgentExecution,
  result: AgentResult,
  inputBytes = inputBytesOf(execution),
): Promise<void> {
  const { logger } = deps;
  const { name, namespace } = execution.metadata;
  const problem = await storeOrRefuse(deps, { execution, inputBytes }, fitting({ execution, inputBytes }, result));
  if (problem === undefined) return;
  logger.error({ namespace, execution: name, ...problem }, 'outcome refused by the Kubernetes API');
  const again = await storeOrRefuse(deps, { execution, inputBytes }, failureOf(result, problem));
  if (again === undefined) return;
  logger.error(
    { namespace, execution: name, ...again },
    'outcome refused by the Kubernetes API, and so is its failure',
  );
  throw new AppError('unavailable', `no outcome can be stored: ${again.message}`, { reason: 'OutcomeRefused' });
}

interface Problem {
  readonly reason: AgentExecutionReason;
  readonly message: string;
}

interface Stored {
  readonly execution: AgentExecution;
  readonly inputBytes: number;
}

/** Bytes that Kubernetes stores of the texts that caches leave out. */
export const inputBytesOf = ({ spec: { input = '', intent = '' } }: AgentExecution): number =>
  storedBytes(input) + storedBytes(intent);

/** The outcome, or a failure where the object would be larger than etcd takes. */
function fitting(stored: Stored, result: AgentResult): AgentResult {
  const { execution, inputBytes } = stored;
  const { input: _input, intent: _intent, ...spec } = execution.spec;
  const bytes = inputBytes + storedBytes({ ...execution, spec: { ...spec, result } });
  return bytes > objectBytes ? failureOf(result, tooLarge(stored, result)) : result;
}

function tooLarge({ inputBytes }: Stored, { output = '' }: AgentResult): Problem {
  const message =
    `Kubernetes stores ${objectBytes} bytes of an execution; the output has ${storedBytes(output)} and the input with the intent ` +
    `${inputBytes}, where <, > and & take six bytes each. Ask the agent for a shorter output, or let it ` +
    'write a file';
  return { reason: 'OutputTooLarge', message };
}

/** Nothing of the outcome that may have been refused, but for the numbers of its work. */
function failureOf(result: AgentResult, { reason, message }: Problem): AgentResult {
  const {
    output: _output,
    score: _score,
    confidence: _confidence,
    provider: _provider,
    model: _model,
    ...rest
  } = result;
  return { ...rest, phase: 'failed', reason, message: message.slice(0, messageLength).toWellFormed() };
}

/** Why the API server refuses this outcome for good; undefined where the execution has an end, or is gone. */
async function storeOrRefuse(
  { kube, clock, logger }: OutcomeDeps,
  stored: Stored,
  result: AgentResult,
): Promise<Problem | undefined> {
  const { execution } = stored;
  const { name, namespace = '', uid } = execution.metadata;
  let phase = execution.status?.phase;
  const pauseAfter = (error: unknown, failures: number): number => {
    const pauseMs = doubling(error, failures);
    if (!isConflict(error) && !isFailedTest(error))
      logger.warn({ namespace, execution: name, problem: messageOf(error) }, 'outcome not written yet');
    return pauseMs;
  };
  return tryPaced({ clock, pauseAfter }, async () => {
    try {
      await kube.jsonPatch(agentExecutions, { name, namespace }, [
        { op: 'test', path: '/metadata/uid', value: uid },
        { op: 'test', path: '/status/phase', value: phase },
        { op: 'add', path: '/spec/result', value: result },
      ]);
      return undefined;
    } catch (error) {
      if (isAbsent(error)) return undefined;
      if (isTooLarge(error)) return tooLarge(stored, result);
      // Another object of that name, another phase, or the outcome was written before: it is immutable.
      if (!isInvalid(error)) throw error;
      phase = await phaseOfOpen({ kube, logger }, execution);
      if (phase === undefined) return undefined;
      // The phase may be again the one that was tested: only a refusal that is no failed test judges the outcome.
      if (isFailedTest(error)) throw error;
      return { reason: 'Refused', message: `the API server refused the outcome: ${messageOf(error)}` };
    }
  });
}

/** The phase of the execution as it is stored; undefined where it is gone, or has an outcome or another end. */
async function phaseOfOpen({ kube, logger }: Omit<OutcomeDeps, 'clock'>, { metadata }: AgentExecution) {
  const { name, namespace = '', uid } = metadata;
  const found = await findObject(kube, agentExecutions, { name, namespace });
  if (found === undefined || found.metadata.uid !== uid || found.spec.result !== undefined) return undefined;
  const phase = found.status?.phase ?? 'pending';
  if (!finished(found)) return phase;
  logger.warn({ namespace, execution: name, phase }, 'the execution ended before its outcome was stored');
  return undefined;
}
