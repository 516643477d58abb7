import type { AgentAsk, AgentExecution, AgentResult, AgentSignal } from '../../crds/schema/agent-execution.ts';
import { cutMark, shortened, slimCancel } from '../execution/slim-cancel.ts';
import { heapBytes } from '../heap-bytes.ts';
import { slimMetadata } from '../informer/slim-metadata.ts';

/**
 * An AgentExecution without the texts that people and models write: its input, its intent, the output of its result, what
 * people said beside their answers, mounts that are not small, and of a reason and of the arguments of a call that waits
 * all but the beginning. A cache may hold thousands, and no decision is woken by them (design §11).
 */
export function slimAgentExecution({ apiVersion, kind, metadata, spec, status }: AgentExecution): AgentExecution {
  const { input: _input, intent: _intent, volumes, cancel, result, ask, signals, ...asked } = spec;
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata),
    spec: {
      ...asked,
      ...(volumes === undefined ? {} : { volumes: slimMounts(volumes) }),
      ...(cancel === undefined ? {} : { cancel: slimCancel(cancel) }),
      ...(ask === undefined ? {} : { ask: slimAsk(ask) }),
      ...(signals === undefined ? {} : { signals: signals.map(slimSignal) }),
      ...(result === undefined ? {} : { result: slimResult(result) }),
    },
    ...(status === undefined ? {} : { status }),
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

const slimResult = ({ output: _output, ...result }: AgentResult): AgentResult => result;

/** Characters of the arguments that a list shows. */
const argumentsShown = 512;

function slimAsk(ask: AgentAsk): AgentAsk {
  const { arguments: text } = ask;
  return text.length <= argumentsShown ? ask : { ...ask, arguments: shortened(text, argumentsShown) };
}

/** Arguments in full are JSON, which never ends so. */
export const isCutAsk = ({ arguments: text }: AgentAsk): boolean => text.endsWith(cutMark);

const slimSignal = ({ feedback: _feedback, note: _note, ...signal }: AgentSignal): AgentSignal => signal;
