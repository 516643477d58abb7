import type { AgentExecution, AgentResult } from '../../crds/schema/agent-execution.ts';
import { slimMetadata } from '../informer/slim-metadata.ts';

/**
 * An AgentExecution without the texts that people and models write: its input, its intent and the output of its result.
 * A cache may hold thousands, and no decision is woken by them (design §11).
 */
export function slimAgentExecution({ apiVersion, kind, metadata, spec, status }: AgentExecution): AgentExecution {
  const { input: _input, intent: _intent, result, ...asked } = spec;
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata),
    spec: { ...asked, ...(result === undefined ? {} : { result: slimResult(result) }) },
    ...(status === undefined ? {} : { status }),
  };
}

const slimResult = ({ output: _output, ...result }: AgentResult): AgentResult => result;
