import { limits } from '../../../crds/limits.ts';
import type { ContainerFields } from '../../../crds/schema/container.ts';
import { parseDuration } from '../../../lib/duration.ts';
import { ownMember } from '../../../lib/own-member.ts';
import type { TemplateScope } from '../../../lib/template/scope.ts';
import type { PlannedMount, PlanOrFailure } from '../../step-pods/step.ts';
import { runAttempts } from '../engine/attempts.ts';
import type { Draft } from '../engine/draft.ts';
import type { Failure, VolumeFact } from '../engine/facts.ts';
import { processFailure } from '../engine/process-bounds.ts';
import type { CurrentVisit } from '../engine/reduce.ts';
import { renderText, templateScope } from '../engine/scope.ts';
import type { StateHandler } from '../engine/state-handler.ts';

/** One command in a pod, tried again as `retry` says (spec 1 §2.6, kind ContainerRun). */
export const containerRun: StateHandler<'ContainerRun'> = (draft, state, current) =>
  runAttempts(draft, current, state, (visit) => containerPlan(draft, visit, state));

/** Renders the fields of a ContainerRun or of one step (spec 1 §2.6). */
export function containerPlan(draft: Draft, current: CurrentVisit, fields: ContainerFields): PlanOrFailure {
  const scope = templateScope(draft);
  const mounts = plannedMounts(draft, fields);
  if (!Array.isArray(mounts)) return mounts;
  const { image_pull_policy: imagePullPolicy = 'IfNotPresent', workdir = limits.workdirDefault } = fields;
  const argv = plannedArgv(draft, fields, scope);
  const env = renderEnv(draft, fields.env, scope);
  const failure = processFailure(argv, env);
  if (failure !== undefined) return { failure };
  return {
    image: fields.image,
    imagePullPolicy,
    argv,
    env,
    workdir,
    mounts,
    timeoutMs: commandTimeoutMs(draft, current, fields.resources?.timeout ?? limits.containerTimeoutDefault),
    cpuMillis: fields.resources?.cpu,
    memory: fields.resources?.memory,
    // The kubelet reads the key that belongs to the type of the Secret; what follows the slash says the same.
    registryCredentials: fields.registry_credentials?.split('/')[0],
  };
}

function plannedArgv(draft: Draft, { command, shell }: ContainerFields, scope: TemplateScope): readonly string[] {
  const argv = command.map((element) => renderText(draft, element, scope));
  return shell === true ? shellArgv(argv.join(' ')) : argv;
}

function plannedMounts(
  draft: Draft,
  { volumes = [] }: ContainerFields,
): PlannedMount[] | { readonly failure: Failure } {
  const mounts: PlannedMount[] = [];
  for (const { name, mount_path: mountPath, read_only: readOnly = false } of volumes) {
    const claim = mountableClaim(ownMember(draft.facts.volumes, name), name);
    if (typeof claim !== 'string') return { failure: claim };
    mounts.push({ claim, mountPath, readOnly });
  }
  return readOnlyWins(mounts);
}

/** `sh -c` gets one argument; elements are joined with single blanks (requirements AMB-077). */
export const shellArgv = (command: string): string[] => ['sh', '-c', command];

/** Values are templates, names are not. */
export function renderEnv(draft: Draft, env: Readonly<Record<string, string>> = {}, scope: TemplateScope) {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, renderText(draft, value, scope)]));
}

/** The claim of a volume, or why it cannot be mounted. */
export function mountableClaim(fact: VolumeFact | undefined, name: string): string | Failure {
  if (fact?.phase === 'expired') return { reason: 'VolumeExpired', message: `volume ${name} has expired` };
  if (fact?.claim !== undefined && fact.phase !== 'failed') return fact.claim;
  return { reason: 'VolumeFailed', message: `volume ${name}: ${fact?.message ?? 'there is no such volume'}` };
}

/** The default timeout of a state has not begun to count before its first container runs. */
const defaultTimeoutMs = parseDuration(limits.stateTimeoutDefault, { field: 'timeout' });

/** The command's own limit, and never longer than the state may last. At least a second, so that it can begin. */
export function commandTimeoutMs(draft: Draft, current: CurrentVisit, timeout: string): number {
  const own = parseDuration(timeout, { field: 'resources.timeout' });
  if (current.deadline === undefined) return Math.min(own, defaultTimeoutMs);
  return Math.min(own, Math.max(1_000, Date.parse(current.deadline) - draft.now));
}

/** Two mounts of one volume that disagree are both read-only (requirements AMB-080). */
function readOnlyWins(mounts: readonly PlannedMount[]): PlannedMount[] {
  const readOnly = new Set(mounts.filter((mount) => mount.readOnly).map((mount) => mount.claim));
  return mounts.map((mount) => ({ ...mount, readOnly: readOnly.has(mount.claim) }));
}
