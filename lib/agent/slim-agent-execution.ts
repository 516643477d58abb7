import type { AgentAsk, AgentExecution, AgentResult, AgentSignal } from '../../crds/schema/agent-execution.ts';
import { slimMetadata } from '../informer/slim-metadata.ts';

/**
 * An AgentExecution without the texts that people and models write: its input, its intent, the output of its result, what
 * people said beside their answers, and of the arguments of a call that waits all but the beginning.
 * A cache may hold thousands, and no decision is woken by them (design §11).
 */
export function slimAgentExecution({ apiVersion, kind, metadata, spec, status }: AgentExecution): AgentExecution {
  const { input: _input, intent: _intent, result, ask, signals, ...asked } = spec;
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata),
    spec: {
      ...asked,
      ...(ask === undefined ? {} : { ask: slimAsk(ask) }),
      ...(signals === undefined ? {} : { signals: signals.map(slimSignal) }),
      ...(result === undefined ? {} : { result: slimResult(result) }),
    },
    ...(status === undefined ? {} : { status }),
  };
}

const slimResult = ({ output: _output, ...result }: AgentResult): AgentResult => result;

/** Characters of the arguments that a list shows. */
const argumentsShown = 512;
const cutMark = '…';

function slimAsk(ask: AgentAsk): AgentAsk {
  const { arguments: text } = ask;
  if (text.length <= argumentsShown) return ask;
  // A part of a text keeps all of it in memory, unless it is copied.
  return { ...ask, arguments: Buffer.from(`${text.slice(0, argumentsShown)}${cutMark}`).toString('utf8') };
}

/** Arguments in full are JSON, which never ends so. */
export const isCutAsk = ({ arguments: text }: AgentAsk): boolean => text.endsWith(cutMark);

const slimSignal = ({ feedback: _feedback, note: _note, ...signal }: AgentSignal): AgentSignal => signal;
