import type { AgentAsk, AgentExecution, AgentResult, AgentSignal } from '../../crds/schema/agent-execution.ts';
import type { Cancel } from '../../crds/schema/workflow-execution.ts';
import { defined } from '../defined.ts';
import { withOneText } from '../execution/one-text.ts';
import { cutMark, cutWithMark } from '../cut-text.ts';
import { heapBytes } from '../heap-bytes.ts';
import { executionMarks, slimMetadata } from '../informer/slim-metadata.ts';

/**
 * An AgentExecution without the texts that people and models write. It lacks its input, its intent, the output of its
 * result, words of people beside their answers, answers to earlier asks, and mounts that are not small. It has the
 * beginning of a reason, and of the arguments of a call that waits. A cache may hold thousands, and no decision is
 * woken by them (design §11).
 */
export function slimAgentExecution({ apiVersion, kind, metadata, spec, status }: AgentExecution): AgentExecution {
  const { input: _input, intent: _intent, volumes, cancel, result, ask, signals, ...asked } = spec;
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata, executionMarks),
    spec: {
      ...asked,
      ...(volumes === undefined ? {} : { volumes: slimMounts(volumes) }),
      ...(cancel === undefined ? {} : { cancel: slimCancel(cancel) }),
      ...(ask === undefined ? {} : { ask: slimAsk(ask) }),
      ...(signals === undefined ? {} : { signals: slimSignals(signals, ask) }),
      ...(result === undefined ? {} : { result: slimResult(result) }),
    },
    ...(status === undefined ? {} : { status: slimStatus(status, result?.message) }),
  };
}

type Mounts = NonNullable<AgentExecution['spec']['volumes']>;

/** Mounts that take less heap than this stay in caches: most executions have one or two. */
const smallMountsBytes = 1_024;
/** In place of larger ones. No Volume has an empty name. */
const cutMounts: Mounts = [Object.freeze({ volume: '', mount_path: '', access_mode: 'read-only' })];

const slimMounts = (mounts: Mounts): Mounts =>
  heapBytes(mounts, smallMountsBytes) < smallMountsBytes ? mounts : cutMounts;

/** The execution with all of its mounts, which `whole` reads where a cache has left them out; undefined where it is gone. */
export const withMounts = async (
  execution: AgentExecution,
  whole: (execution: AgentExecution) => Promise<AgentExecution | undefined>,
): Promise<AgentExecution | undefined> => (execution.spec.volumes?.[0]?.volume === '' ? whole(execution) : execution);

/** Characters of a reason that caches keep. */
const reasonLength = 256;

/** A cancellation with the beginning of its reason: 1,024 characters for each of ten thousand objects are much. */
function slimCancel({ reason, ...cancel }: Cancel): Cancel {
  return reason === undefined ? cancel : { ...cancel, reason: cutWithMark(reason, reasonLength) };
}

const slimResult = ({ output: _output, ...result }: AgentResult): AgentResult => result;

/** Characters of the arguments that a list shows. */
const argumentsShown = 512;

function slimAsk(ask: AgentAsk): AgentAsk {
  const { arguments: text } = ask;
  return text.length <= argumentsShown ? ask : { ...ask, arguments: cutWithMark(text, argumentsShown) };
}

/** Arguments in full are JSON, which never ends so. */
export const isCutAsk = ({ arguments: text }: AgentAsk): boolean => text.endsWith(cutMark);

/** The answer to the present ask, and the last one of all: that they are there is all that counts. */
function slimSignals(signals: readonly AgentSignal[], ask: AgentAsk | undefined): AgentSignal[] {
  const kept = [...new Set([signals.find(({ id }) => id === ask?.id), signals.at(-1)])];
  return kept.filter((signal) => signal !== undefined).map(({ id, response }) => ({ id, response, by: '', at: '' }));
}

type Status = NonNullable<AgentExecution['status']>;

/** The result, the status and its condition repeat one message; the text is held once. */
function slimStatus(status: Status, known: string | undefined): Status {
  const message = status.message === known ? known : status.message;
  return { ...status, ...defined({ message, conditions: withOneText(status.conditions, message) }) };
}
