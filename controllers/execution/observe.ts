import type { VolumeReason } from '../../crds/conditions.ts';
import { labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { ToolCall } from '../../crds/schema/tool-call.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { Phase } from '../../crds/schema/workflow-execution-status.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { finished, succeeded } from '../../lib/execution/finished.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import type { KubeObject, ObjectMeta, Pod } from '../../lib/kube/index.ts';
import { locatorText } from '../../lib/output-store/blob.ts';
import { open } from '../../lib/output-store/stored-value.ts';
import { slotOf } from '../../lib/pod-slot.ts';
import { LargeValue } from '../../lib/template/large-value.ts';
import type { ArchiveFact } from '../archiving/decide-archiving.ts';
import { observePod, type OutcomeOf } from '../step-pods/observe-pod.ts';
import type { NoteOf } from '../step-pods/pod-waiting.ts';
import type { ChildFact, EndRoute, Facts, PinnedDefinition, PodFact, Settings, VolumeFact } from './engine/facts.ts';
import { rootOf, volumeName } from './engine/names.ts';
import { isAwaitedByOrigin, observeLinked } from './linked.ts';
import type { MadeChildren } from './made-children.ts';
import { observeAgent } from './observe-agents.ts';
import { observeToolCall } from './observe-tool-calls.ts';
import { linkOriginKey } from './origin.ts';

/** The caches that an execution is observed in, with the indexes it needs. */
export interface Caches {
  readonly executions: CacheReader<WorkflowExecution, 'parentUid' | 'originUid' | 'root' | 'workflow'>;
  /** By the uid of the execution that owns them, and by its kind and key. */
  readonly pods: CacheReader<Pod, 'ownerUid' | 'owner'>;
  readonly volumes: CacheReader<Volume>;
  readonly agents: CacheReader<AgentExecution, 'parentUid'>;
  readonly toolCalls: CacheReader<ToolCall, 'parentUid'>;
}

export interface ObserveDeps {
  readonly caches: Caches;
  readonly outcomeOf: OutcomeOf;
  readonly noteOf?: NoteOf;
  /** Pods that the API server refused to take, as facts. */
  readonly rejectedPods: (executionUid: string) => readonly PodFact[];
  /** Children that this process has made, by the uid of their parent (`MadeChildren`). */
  readonly madeChildren: (executionUid: string) => ReadonlyMap<string, string>;
  /** Executions that this process has started for the end of others, by the uid of those. */
  readonly linkedExecutions: Pick<MadeChildren, 'of'>;
  readonly archiveOf?: (execution: WorkflowExecution) => ArchiveFact | undefined;
  readonly settings: Settings;
}

/** Facts that need no call to the API; other workflows and stored values are added as deciding asks for them. */
export function observe(deps: ObserveDeps, execution: WorkflowExecution, now: number): Omit<Facts, 'workflow'> {
  const { uid = '', namespace } = execution.metadata;
  // Any user may write labels and parents: an object that claims to be ours from another tenant's namespace is not.
  const isBeside = ({ metadata }: KubeObject): boolean => metadata.namespace === namespace;
  const pods = deps.caches.pods
    .byIndex('ownerUid', uid)
    .filter(isBeside)
    .flatMap((pod) => podFact(deps, pod, now));
  return {
    execution,
    workflows: new Map(),
    pods: [...pods, ...deps.rejectedPods(uid)],
    children: deps.caches.executions.byIndex('parentUid', uid).filter(isBeside).map(observeChild),
    agents: deps.caches.agents.byIndex('parentUid', uid).filter(isBeside).flatMap(observeAgent),
    toolCalls: deps.caches.toolCalls.byIndex('parentUid', uid).filter(isBeside).map(observeToolCall),
    successors: successorsOf(deps.caches, execution.metadata),
    made: deps.madeChildren(uid),
    awaited: isAwaitedByAny(deps.caches, execution),
    ...observeLinked({ ...deps, ...deps.caches }, execution),
    volumes: {},
    loaded: new Map(),
    archive: deps.archiveOf?.(execution),
    settings: deps.settings,
  };
}

/**
 * Whether a parent is still in the state that made this child and has not written down that it saw it. Only the
 * parent's own status counts: any user may write what a child says of its parent.
 */
export function isAwaited({ spec }: WorkflowExecution, parent: WorkflowExecution | undefined): boolean {
  const reference = spec.parent;
  if (reference === undefined || parent?.metadata.uid !== reference.uid || finished(parent)) return false;
  const current = parent.status?.current;
  const isThere = current?.state === reference.state && current.visit === reference.visit;
  return isThere && current.child !== undefined && current.child.uid === undefined;
}

function isAwaitedByAny({ executions }: Pick<Caches, 'executions'>, execution: WorkflowExecution): boolean {
  const parent = executions.get(`${execution.metadata.namespace}/${execution.spec.parent?.name ?? ''}`);
  return isAwaited(execution, parent) || isAwaitedByOrigin(execution, executions.get(linkOriginKey(execution) ?? ''));
}

/** Nothing for a pod that is no step. */
export function podFact(
  { outcomeOf, noteOf }: Pick<ObserveDeps, 'outcomeOf' | 'noteOf'>,
  pod: Pod,
  now: number,
): PodFact[] {
  const slot = slotOf(pod.metadata);
  return slot === undefined ? [] : [{ slot, ...observePod(pod, outcomeOf, now, noteOf) }];
}

/** The executions that run this one again, the oldest first. */
export function successorsOf(
  { executions }: Pick<Caches, 'executions'>,
  { uid = '', namespace }: ObjectMeta,
): { readonly name: string; readonly uid: string }[] {
  const isBeside = ({ metadata }: WorkflowExecution): boolean => metadata.namespace === namespace;
  return newestOf(executions.byIndex('originUid', uid), isBeside).map(nameOf);
}

/**
 * As many as a status names, the oldest first. One pass: each execution that names an origin has its origin looked at, and
 * there may be tens of thousands.
 */
function newestOf(
  all: readonly WorkflowExecution[],
  isTaken: (one: WorkflowExecution) => boolean,
): WorkflowExecution[] {
  const kept: WorkflowExecution[] = [];
  for (const one of all) {
    if (!isTaken(one)) continue;
    const place = kept.findLastIndex((other) => createdAt(other) <= createdAt(one)) + 1;
    if (place === 0 && kept.length === limits.successors) continue;
    kept.splice(place, 0, one);
    if (kept.length > limits.successors) kept.shift();
  }
  return kept;
}

/** Kubernetes writes every time in UTC to the second, so that texts compare as times do. */
const createdAt = ({ metadata }: WorkflowExecution): string => metadata.creationTimestamp ?? '';
const nameOf = ({ metadata: { name, uid = '' } }: WorkflowExecution) => ({ name, uid });

/** How many executions there are under the same root. Only one that may start another is asked. */
export function observeDescendants(
  { executions }: Pick<Caches, 'executions'>,
  execution: WorkflowExecution,
  { spec }: PinnedDefinition,
  onEnd?: EndRoute,
): number {
  if (onEnd === undefined && !Object.values(spec.states).some(({ kind }) => kind === 'Subworkflow')) return 0;
  return executions.byIndex('root', `${execution.metadata.namespace}/${rootOf(execution)}`).length;
}

/** The volumes that the definition names, as they are now. */
export function observeVolumes(
  { volumes }: Pick<Caches, 'volumes'>,
  execution: WorkflowExecution,
  { spec }: PinnedDefinition,
): Record<string, VolumeFact> {
  const { workspace, shared_volumes = [] } = spec.storage ?? {};
  const { namespace = '', uid } = execution.metadata;
  const made = (name: string): VolumeFact | undefined => {
    const volume = volumes.get(`${namespace}/${volumeName(execution, name)}`);
    if (volume === undefined) return undefined;
    return volume.metadata.labels?.[labels.executionUid] === uid ? volumeFact(volume) : foreignVolume(volume);
  };
  const named = (id: string): VolumeFact | undefined => {
    const volume = volumes.getByUid(id);
    return volume?.metadata.namespace === namespace ? volumeFact(volume) : undefined;
  };
  const rows: (readonly [string, VolumeFact | undefined])[] =
    workspace === undefined ? [] : [['workspace', made('workspace')]];
  for (const { name, volume_id: id } of shared_volumes) rows.push([name, id === undefined ? made(name) : named(id)]);
  return Object.fromEntries(rows.flatMap(([name, fact]) => (fact === undefined ? [] : [[name, fact]])));
}

/** Its name can be foreseen; another user could read the files that a step writes there. */
const foreignVolume = ({ metadata: { name } }: Volume): VolumeFact => ({
  volume: name,
  phase: 'failed',
  message: `Volume ${name} has another owner; delete it`,
});

export function volumeFact({ metadata, status }: Volume): VolumeFact {
  const { message, reason } = status?.conditions?.[0] ?? {};
  const refused: VolumeReason = 'ClaimRefused';
  return {
    volume: metadata.name,
    phase: metadata.deletionTimestamp === undefined ? (status?.phase ?? 'pending') : 'expired',
    ...(status?.claim_name === undefined ? {} : { claim: status.claim_name }),
    ...(message === undefined ? {} : { message }),
    isRefused: reason === refused,
  };
}

/** A child that has ended, with what it left behind. */
export function wholeChild(child: WorkflowExecution): ChildFact {
  const { metadata, status } = child;
  const uid = metadata.uid ?? '';
  const blackboard = Object.fromEntries(
    Object.entries(status?.blackboard ?? {}).map(([key, stored]) => [key, open(stored, uid)]),
  );
  return { ...observeChild(child), isSlim: false, result: childResult(child, blackboard), blackboard };
}

/** The cache does not have the values of an execution. */
export function observeChild(child: WorkflowExecution): ChildFact {
  const { metadata, spec, status } = child;
  const phase = childPhase(child);
  const failure =
    status?.reason === undefined || succeeded({ phase, reason: status.reason })
      ? {}
      : { failure: { reason: status.reason, message: status.message ?? '', cause: status.cause } };
  return {
    name: metadata.name,
    madeBy: spec.parent,
    uid: metadata.uid ?? '',
    phase,
    cancelled: spec.cancel !== undefined,
    startedAt: startOf(child),
    owned: metadata.ownerReferences?.some(({ uid: owner }) => owner === spec.parent?.uid) === true,
    isSlim: true,
    result: null,
    blackboard: {},
    ...failure,
  };
}

const startOf = ({ status }: WorkflowExecution): number | undefined =>
  status?.started_at === undefined ? undefined : Date.parse(status.started_at);

/** The final output; without a template, the output of the child's last state (requirements AMB-086). */
function childResult({ metadata, status }: WorkflowExecution, blackboard: Readonly<Record<string, unknown>>): unknown {
  if (status?.final_output !== undefined) return status.final_output;
  if (status?.final_output_ref !== undefined) {
    const { ref, bytes, encoding } = status.final_output_ref;
    return new LargeValue(locatorText({ executionUid: metadata.uid ?? '', ref, encoding, bytes }), bytes);
  }
  return outputOf(blackboard[status?.state ?? '']);
}

/** The output field of an entry; an entry without one is its own output. */
function outputOf(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null || entry instanceof LargeValue) return entry ?? null;
  return 'output' in entry ? entry.output : entry;
}

/** The phase of a child; one that is being deleted before it ended counts as cancelled. */
function childPhase({ metadata, status }: WorkflowExecution): Phase {
  const phase = status?.phase ?? 'pending';
  const ended = phase === 'completed' || phase === 'failed';
  return metadata.deletionTimestamp !== undefined && !ended ? 'cancelled' : phase;
}
