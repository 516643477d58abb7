import { limits } from '../../../crds/limits.ts';
import type { AgentExecutionSpec } from '../../../crds/schema/agent-execution.ts';
import type { StateOf } from '../../../crds/schema/state.ts';
import { cutText } from '../../../lib/cut-text.ts';
import { defined } from '../../../lib/defined.ts';
import { ownMember } from '../../../lib/own-member.ts';
import { type Draft, LackingFacts } from './draft.ts';
import type { Failure, VolumeFact } from './facts.ts';
import type { CurrentVisit } from './reduce.ts';
import { restOn } from './rest-on.ts';
import { renderText } from './scope.ts';

/** Input of an agent's start, or the reason against it. */
export type AgentPlan = { readonly spec: AgentExecutionSpec } | { readonly failure: Failure };

type Mounts = NonNullable<AgentExecutionSpec['volumes']>;

/** Renders the fields of an Agent state (spec 1 §2.6). */
export function agentPlan(draft: Draft, state: StateOf<'Agent'>, current: CurrentVisit): AgentPlan {
  const { intent, input, isolation } = state;
  const texts = {
    intent: intent === undefined ? draft.facts.execution.spec.intent : renderText(draft, intent),
    input: input === undefined ? undefined : renderText(draft, input),
  };
  const failure = lengthFailure(current, texts);
  if (failure !== undefined) return { failure };
  const mounts = mountsOf(draft, state);
  if ('failure' in mounts) return mounts;
  const volumes = mounts.volumes.length === 0 ? undefined : mounts.volumes;
  const parent = parentOf(draft, current);
  return { spec: { agent: state.agent, ...defined({ ...texts, isolation, volumes }), parent } };
}

/** Renders the fields of one judge. Its `intent` is that of the execution. */
export function judgePlan(
  draft: Draft,
  { agents }: StateOf<'ParallelAgents'>,
  current: CurrentVisit,
  judge: number,
): AgentPlan {
  const { agent = '', input } = agents[judge] ?? {};
  const texts = {
    intent: draft.facts.execution.spec.intent,
    input: input === undefined ? undefined : renderText(draft, input),
  };
  const failure = lengthFailure(current, texts);
  if (failure !== undefined) return { failure };
  return { spec: { agent, ...defined(texts), parent: { ...parentOf(draft, current), judge } } };
}

function parentOf({ facts }: Draft, { state, visit }: CurrentVisit) {
  const { name, uid = '' } = facts.execution.metadata;
  return { name, uid, state, visit };
}

const longest = { intent: limits.templateLength, input: limits.agentInputLength } as const;

function lengthFailure(
  { state }: CurrentVisit,
  texts: { readonly [Field in keyof typeof longest]: string | undefined },
): Failure | undefined {
  for (const field of ['intent', 'input'] as const) {
    const { length = 0 } = texts[field] ?? {};
    if (length <= longest[field]) continue;
    const message = `${field} of state ${state} has ${length} characters and an agent takes ${longest[field]}; pass large values through a file on a volume`;
    return { reason: 'InvalidAgentInput', message };
  }
  return undefined;
}

/** The mounts as an AgentExecution names them. Two of one volume that disagree are both read-only (AMB-080). */
function mountsOf(draft: Draft, state: StateOf<'Agent'>): { readonly volumes: Mounts } | { readonly failure: Failure } {
  const volumes: Mounts = [];
  for (const { volume: template, mount_path, access_mode } of state.volumes ?? []) {
    const reference = renderText(draft, template).trim();
    const fact = volumeOf(draft, reference);
    const failure = mountFailure(reference, fact);
    if (failure !== undefined) {
      if (fact !== undefined) restOn(draft, { of: 'volume', name: fact.volume });
      return { failure };
    }
    volumes.push({ volume: fact?.volume ?? '', mount_path, access_mode });
  }
  const readOnly = new Set(volumes.filter((mount) => mount.access_mode === 'read-only').map(({ volume }) => volume));
  return {
    volumes: volumes.map((mount) => (readOnly.has(mount.volume) ? { ...mount, access_mode: 'read-only' } : mount)),
  };
}

const uidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A name in the workflow, or the uid of a Volume in the namespace of the execution. */
function volumeOf({ facts }: Draft, reference: string): VolumeFact | undefined {
  const declared = ownMember(facts.volumes, reference);
  if (declared !== undefined || !uidPattern.test(reference)) return declared;
  const { volumesByUid } = facts;
  if (volumesByUid?.has(reference) !== true) throw new LackingFacts([{ kind: 'volume', uid: reference }]);
  return volumesByUid.get(reference);
}

/** Longest part of a reference that a message quotes, in characters. */
const quotedLength = 128;

function mountFailure(reference: string, fact: VolumeFact | undefined): Failure | undefined {
  const name = cutText(reference, quotedLength);
  if (fact === undefined) {
    const message = `volume '${name}' is neither declared by the workflow nor the uid of a Volume in this namespace`;
    return { reason: 'VolumeNotFound', message };
  }
  if (fact.phase === 'expired') return { reason: 'VolumeExpired', message: `volume ${name} has expired` };
  if (fact.phase !== 'failed') return undefined;
  return { reason: 'VolumeFailed', message: `volume ${name}: ${fact.message ?? 'its claim could not be made'}` };
}
