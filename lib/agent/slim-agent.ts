import type { Agent } from '../../crds/schema/agent.ts';
import { heapBytes } from '../heap-bytes.ts';
import { slimMetadata } from '../informer/slim-metadata.ts';

/** A definition of less heap than this is kept as it came: most are. */
const smallBytes = 16 * 1024;
/** Versions that stay in the cache; older ones are looked up by their label. */
const versionsKept = 20;

/** An Agent without the texts and schemas of a large definition: what a list shows and a start needs (design §11). */
export function slimAgent(agent: Agent): Agent {
  if (heapBytes(agent, smallBytes) < smallBytes) return agent;
  const { apiVersion, kind, metadata, spec, status } = agent;
  const versions = status?.versions?.slice(0, versionsKept);
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata),
    spec: {
      version: spec.version,
      ...(spec.description === undefined ? {} : { description: spec.description }),
      ...(spec.runtime === undefined ? {} : { runtime: spec.runtime }),
      task: { instruction: '' },
      ...judgeOf(spec),
    },
    ...(status === undefined ? {} : { status: versions === undefined ? status : { ...status, versions } }),
  };
}

/** The judge of the answers, which wakes those that it judges. */
function judgeOf({ execution }: Agent['spec']): Pick<Agent['spec'], 'execution'> {
  const { agent, threshold = 1 } = execution?.validation ?? {};
  return agent === undefined ? {} : { execution: { validation: { agent, threshold } } };
}

/** An agent has an instruction: one without was cut by `slimAgent`. */
export const isWholeAgent = ({ spec }: Agent): boolean => spec.task.instruction !== '';
