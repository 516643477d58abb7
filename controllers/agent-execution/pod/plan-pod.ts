import type { AgentMount, AgentSpec } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { Volume } from '../../../crds/schema/volume.ts';
import { modelAliasOf } from '../../../lib/agent/model-alias.ts';
import { badMount, mountsOf } from '../../../lib/agent/mounts.ts';
import type { NodeConfig } from '../../../lib/node-config/index.ts';
import type { StepPlan } from '../../step-pods/step.ts';
import type { Reasoned } from '../decide.ts';

/** Working folder of every agent's container. */
export const workspace = '/workspace';

export interface AgentPodPlan {
  readonly step: StepPlan;
  readonly runtimeClass?: string | undefined;
  readonly modelAlias: string;
}

type PlannedPod =
  | { readonly kind: 'plan'; readonly plan: AgentPodPlan }
  | { readonly kind: 'waits'; readonly why: Reasoned }
  | { readonly kind: 'failed'; readonly why: Reasoned };

interface PlanFacts {
  readonly execution: AgentExecution;
  readonly agent: AgentSpec;
  readonly nodeConfig: Pick<NodeConfig, 'runtimes' | 'isolation'>;
  readonly volumeOf: (name: string) => Volume | undefined;
  /** Whether a volume that is not known may be one that the cache does not hold yet. */
  readonly isNew: boolean;
}

/** The plan of an execution's pod, or the reason for which it cannot be made. Pure. */
export function planPod(facts: PlanFacts): PlannedPod {
  const { execution, nodeConfig } = facts;
  const mounts = mountsOf(facts.agent, execution.spec);
  const problem = isolationProblem(facts) ?? runtimeProblem(facts) ?? mountProblem(mounts);
  if (problem !== undefined) return { kind: 'failed', why: problem };
  for (const mount of mounts) {
    const state = volumeState(facts, mount);
    if (state !== undefined) return state;
  }
  return {
    kind: 'plan',
    plan: {
      modelAlias: modelAliasOf(facts.agent),
      runtimeClass: nodeConfig.isolation[execution.spec.isolation ?? 'inherit'],
      step: stepOf(facts, mounts),
    },
  };
}

function stepOf(facts: PlanFacts, mounts: readonly AgentMount[]): StepPlan {
  const { agent, nodeConfig } = facts;
  const image = imageOf(agent, nodeConfig);
  return {
    ...(image === undefined ? {} : { image }),
    imagePullPolicy: 'IfNotPresent',
    argv: [],
    env: agent.env ?? {},
    workdir: workspace,
    mounts: mounts.map((mount) => plannedMount(facts, mount)),
    cpuMillis: agent.resources?.cpu,
    memory: agent.resources?.memory,
    timeoutMs: 0,
  };
}

/** requirements AMB-081: nothing is run with less isolation than was asked for. */
function isolationProblem({ execution, nodeConfig }: PlanFacts): Reasoned | undefined {
  const { isolation = 'inherit' } = execution.spec;
  const isPlain = isolation === 'inherit' || isolation === 'docker';
  if (isPlain || nodeConfig.isolation[isolation] !== undefined) return undefined;
  const message = `isolation ${isolation}: the node configuration names no RuntimeClass for it (spec.isolation.${isolation})`;
  return { reason: 'IsolationUnavailable', message };
}

/** No agent runs in the image of another language or version where the node configuration has images of languages. */
function runtimeProblem({ agent, nodeConfig }: PlanFacts): Reasoned | undefined {
  const { image, language, version } = agent.runtime ?? {};
  const { runtimes } = nodeConfig;
  if (image !== undefined || language === undefined || runtimes.length === 0) return undefined;
  if (imageOf(agent, nodeConfig) !== undefined) return undefined;
  const wanted = version === undefined ? language : `${language} ${version}`;
  const some = runtimes.slice(0, shownRuntimes).map((row) => `${row.language} ${row.version}`);
  const known = [...some, ...(runtimes.length > some.length ? ['…'] : [])].join(', ');
  const message = `spec.runtime: the node configuration has no image for ${wanted}, only for ${known}; name one of these, or give runtime.image`;
  return { reason: 'RuntimeUnavailable', message };
}

/** Runtimes that a message names. */
const shownRuntimes = 10;

function mountProblem(mounts: readonly AgentMount[]): Reasoned | undefined {
  const bad = badMount(mounts);
  return bad && { reason: 'InvalidMount', message: `volumes[${bad.index}].mount_path: ${bad.message}` };
}

/** Why the claim of a volume cannot be mounted; undefined where it can. */
function volumeState(facts: PlanFacts, { volume: name }: AgentMount): PlannedPod | undefined {
  const volume = facts.volumeOf(name);
  if (volume === undefined) {
    const why: Reasoned = { reason: 'VolumeNotFound', message: `there is no Volume ${name} in this namespace` };
    return { kind: facts.isNew ? 'waits' : 'failed', why };
  }
  const { phase = 'pending', claim_name: claim } = volume.status ?? {};
  return phase === 'ready' && claim !== undefined ? undefined : unready(volume, phase);
}

/** Whether a plan failed for what a cache says of a volume. */
export const isOfVolume = ({ reason }: Reasoned): boolean =>
  reason === 'VolumeNotFound' || Object.values(failedVolumes).includes(reason);

function unready({ metadata, status }: Volume, phase: string): PlannedPod {
  const message = `Volume ${metadata.name}: ${status?.conditions?.[0]?.message ?? 'is being made'}`;
  const reason = failedVolumes[phase];
  return reason === undefined
    ? { kind: 'waits', why: { reason: 'VolumesPending', message } }
    : { kind: 'failed', why: { reason, message } };
}

const failedVolumes: Readonly<Record<string, Reasoned['reason']>> = {
  expired: 'VolumeExpired',
  failed: 'VolumeFailed',
};

const plannedMount = ({ volumeOf }: PlanFacts, { volume, mount_path, access_mode }: AgentMount) => ({
  claim: volumeOf(volume)?.status?.claim_name ?? volume,
  mountPath: mount_path,
  readOnly: access_mode === 'read-only',
});

/** Undefined: the image for System commands. */
function imageOf({ runtime = {} }: AgentSpec, { runtimes }: Pick<NodeConfig, 'runtimes'>): string | undefined {
  const { image, language, version } = runtime;
  if (image !== undefined || language === undefined) return image;
  return runtimes.find((row) => row.language === language && (version === undefined || row.version === version))?.image;
}
