import { apiVersion } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { GitBinding, GitBindingSpec, GitOperation } from '../../crds/schema/git-binding.ts';
import { isUid } from '../../crds/uid.ts';
import { validateSpec } from '../../crds/validators.ts';
import type { AuditTrail, EventSink } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { defined } from '../../lib/defined.ts';
import { AppError } from '../../lib/errors.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import type { NewId } from '../../lib/ids.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import { gitBindings } from '../../lib/kinds.ts';
import {
  findWanted,
  isAbsent,
  isAlreadyExists,
  isConflict,
  isInvalid,
  type KubeClient,
  listPages,
} from '../../lib/kube/index.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { ToolArguments, ToolCaller } from '../../lib/tools/tool.ts';
import { writeRefusal } from '../routes/write-refusal.ts';
import { assertLent, assertMay, folder, writes } from './git-rights.ts';
import { type Give, invalid, textArgument } from './give.ts';
import { isBlocked, isOver, operationOf, ReadAnswers, settle, unknown } from './git-waits.ts';
import { stillRunning } from './still-running.ts';
import { storageFact } from './storage-fact.ts';
import { namespaceOf, volumeName } from './volume-tools.ts';

export interface GitToolsDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'list' | 'jsonPatch' | 'delete'>;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
  readonly audit: AuditTrail;
  readonly events: EventSink;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Undefined: there are no tools of git. */
  readonly gitImage: string | undefined;
}

/** Repositories in volumes of the tenant, over GitBindings that the controllers work on (spec 3 §10.2; ADR 0098). */
export function gitTools(deps: GitToolsDeps): Record<string, Give> {
  if (deps.gitImage === undefined) return {};
  const operating = { ...deps, answers: new ReadAnswers() };
  return {
    'svc.git.clone': clones(deps),
    'svc.git.list': lists(deps),
    'svc.git.delete': deletes(deps),
    'svc.git.refresh': operates(operating, 'svc.git.refresh', 'sync'),
    'svc.git.commit': operates(operating, 'svc.git.commit', 'commit'),
    'svc.git.push': operates(operating, 'svc.git.push', 'push'),
    'svc.git.status': operates(operating, 'svc.git.status', 'status'),
    'svc.git.diff': operates(operating, 'svc.git.diff', 'diff'),
  };
}

const summaryOf = ({ metadata, spec, status = {} }: GitBinding) => ({
  binding_id: metadata.uid,
  name: metadata.name,
  repo_url: spec.repo_url,
  phase: status.phase ?? 'pending',
  ahead: status.ahead ?? false,
  path: folder,
  ...defined({
    ref: spec.ref,
    commit: status.commit,
    branch: status.branch,
    volume_id: status.volume?.uid,
    synced_at: status.synced_at,
    sync_error: status.sync_error,
    operation: operationOf({ spec, status }),
  }),
});

function bindingOf(args: ToolArguments, namespace: string): GitBinding {
  const label = volumeName(args);
  if (label.length > limits.gitBindingNameLength || isUid(label))
    throw invalid(`label must have at most ${limits.gitBindingNameLength} characters, and not the form of an id`);
  const secret = args['secret'];
  const spec = {
    repo_url: textArgument(args, 'repo_url'),
    ...(typeof args['ref'] === 'string' ? { ref: args['ref'] } : {}),
    ...(typeof secret === 'string' ? { credentials: { secret: { name: secret } } } : {}),
  };
  const [problem] = validateSpec.GitBinding(spec);
  if (problem !== undefined) throw invalid(`${problem.path.replace(/^spec\./, '')} ${problem.message}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the validator of its schema has passed it
  return { apiVersion, kind: 'GitBinding', metadata: { name: label, namespace }, spec: spec as GitBindingSpec };
}

/** A repository that cannot be cloned leaves nothing behind. */
function clones(deps: GitToolsDeps): Give {
  const { kube, tenants, audit } = deps;
  return async (caller, args, signal) => {
    const binding = bindingOf(args, namespaceOf(tenants, caller));
    assertLent(caller, binding.spec.credentials?.secret.name, 'clone');
    const made = await kube.create(gitBindings, binding).catch((error: unknown) => {
      throw asRefusal(error, binding.metadata.name);
    });
    const { uid = '', name } = made.metadata;
    const data = { binding: name, repo_url: made.spec.repo_url };
    audit.record({ type: 'GitBindingCreated', by: caller, subject: uid, act: 'create', data });
    const settled = await settle(deps, made, signal, {
      isSettled: ({ status }) => status?.tried_at !== undefined || isBlocked(status),
      late: () =>
        stillRunning(
          `the clone of the binding ${name}, binding_id ${uid},`,
          'svc.git.list shows its phase and why it failed, and svc.git.delete removes it',
        ),
    });
    const error = problemOf(settled);
    const outcome = error === undefined ? 'ok' : 'error';
    raise(deps, caller, { tool: 'svc.git.clone', op: 'sync', binding: settled, outcome });
    if (error === undefined) return summaryOf(settled);
    await remove(deps, settled);
    throw error;
  };
}

/** Why the first sync of a binding brought nothing. */
function problemOf({ status = {} }: GitBinding): AppError | undefined {
  if (status.commit !== undefined) return undefined;
  const { request, conditions } = status;
  const [ready] = conditions ?? [];
  if (request?.phase === 'failed') return failedWith(request.error, request.message);
  return failedWith(ready?.reason, ready?.message);
}

const failedWith = (reason = 'GIT_FAILED', message = 'the operation failed'): AppError =>
  new AppError('invalid', message, { reason });

function asRefusal(error: unknown, name: string): unknown {
  if (isAlreadyExists(error))
    return new HttpError({
      code: 'conflict',
      message: `name: there is a binding ${name} already; choose another name`,
      cause: error,
    });
  if (isInvalid(error)) return new HttpError({ code: 'invalid', message: error.serverMessage, cause: error });
  const tooLarge = (cause: unknown) =>
    new HttpError({
      code: 'limit_exceeded',
      message: 'the binding is larger than Kubernetes takes; shorten its texts',
      cause,
    });
  return writeRefusal(error, tooLarge) ?? error;
}

interface OperatingDeps extends GitToolsDeps {
  readonly answers: ReadAnswers;
}

/** Asks the controllers for an operation when the binding is free, and answers as it ended. */
function operates(deps: OperatingDeps, tool: string, op: GitOperation): Give {
  return async (caller, args, signal) => {
    const binding = await find(deps, caller, textArgument(args, 'binding_id'));
    assertMay(caller, binding, op);
    if (op === 'push') assertLent(caller, binding.spec.credentials?.secret.name, op);
    const id = `tool-${deps.newId()}`;
    await ask(deps, binding, { id, op, ...(op === 'commit' ? { message: messageOf(args) } : {}) }, signal);
    const settled = await settle(deps, binding, signal, {
      isSettled: isOver(id),
      late: () =>
        stillRunning(
          `the operation ${id} (${op}) of the binding ${binding.metadata.name}`,
          'svc.git.list shows in operation of the binding how it ended',
        ),
    }).catch((error: unknown) => {
      tell(deps, caller, { tool, op, binding, outcome: 'unknown' });
      throw error;
    });
    const { answered } = settled.status ?? {};
    deps.answers.add(id);
    const answer = answered?.id === id ? answered : overtaken;
    const isError = answer.phase === 'failed';
    tell(deps, caller, { tool, op, binding: settled, outcome: isError ? 'error' : 'ok' });
    if (isError) throw failedWith(answer.error, answer.message);
    return { ...summaryOf(settled), ...nothingFound[op], ...outputOf(answer.output) };
  };
}

type Answer = NonNullable<NonNullable<GitBinding['status']>['answered']>;

/** A request that others followed so fast that its answer was not seen. */
const overtaken: Pick<Answer, 'phase' | 'error' | 'message' | 'output'> = {
  phase: 'failed',
  error: 'OutcomeUnknown',
  message: 'other operations followed before the answer was read; ask for the status',
};

function messageOf(args: ToolArguments): string {
  const message = textArgument(args, 'message');
  if (message.trim() === '' || message.length > limits.gitMessageLength)
    throw invalid(`message must have 1 to ${limits.gitMessageLength} characters, not blanks alone`);
  return message;
}

/** The answers of operations that have found no difference. */
const nothingFound: Partial<Readonly<Record<GitOperation, object>>> = { status: { changes: [] }, diff: { diff: '' } };

function outputOf(output: string | undefined): object {
  const value: unknown = output === undefined ? {} : JSON.parse(output);
  return isJsonObject(value) ? value : {};
}

type Request = NonNullable<GitBindingSpec['request']>;

/** One operation at a time: a request takes the place of the one before only when that has ended. */
async function ask(deps: OperatingDeps, binding: GitBinding, request: Request, signal: AbortSignal): Promise<void> {
  const { name, namespace = '' } = binding.metadata;
  const isSettled = deps.answers.freeForNext();
  for (;;) {
    const free = await settle(deps, binding, signal, { isSettled, late: () => busyWith(binding) });
    const { resourceVersion = '' } = free.metadata;
    try {
      await deps.kube.jsonPatch(gitBindings, { name, namespace }, [
        { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
        { op: 'add', path: '/spec/request', value: request },
      ]);
      return;
    } catch (error) {
      if (isAbsent(error)) throw unknown(binding.metadata.uid ?? '');
      if (!isConflict(error)) throw asRefusal(error, name);
    }
  }
}

/** Nothing was asked for. */
const busyWith = ({ metadata }: GitBinding): AppError =>
  new AppError(
    'invalid',
    `other operations of the binding ${metadata.name} go on, and this one has not begun; svc.git.list shows when they have ended; call again then`,
    { reason: 'BUSY' },
  );

interface Done {
  readonly tool: string;
  readonly op: GitOperation;
  readonly binding: GitBinding;
  /** `unknown`: it was asked for, and its end was not seen. */
  readonly outcome: 'ok' | 'error' | 'unknown';
}

function tell(deps: GitToolsDeps, caller: ToolCaller, done: Done): void {
  raise(deps, caller, done);
  record(deps, caller, done);
}

function record({ audit }: GitToolsDeps, caller: ToolCaller, { op, binding, outcome }: Done): void {
  if (op !== 'commit' && op !== 'push') return;
  const { metadata, spec, status } = binding;
  const data = { binding: metadata.name, repo_url: spec.repo_url, commit: status?.commit ?? '', outcome };
  const type = op === 'push' ? 'GitBindingPushed' : 'GitBindingCommitted';
  audit.record({ type, by: caller, subject: metadata.uid ?? '', data });
}

/** requirements AMB-199. */
function raise(deps: GitToolsDeps, caller: ToolCaller, { tool, op, binding, outcome: end }: Done): void {
  const volume = binding.status?.volume;
  if (volume === undefined) return;
  const operation = writes.has(op) ? 'write' : 'read';
  const outcome = end === 'ok' ? 'ok' : 'error';
  deps.events.raise(storageFact(deps, caller, { tool, operation, volume, path: `/${folder}`, outcome }));
}

function deletes(deps: GitToolsDeps): Give {
  return async (caller, args) => {
    const binding = await find(deps, caller, textArgument(args, 'binding_id'));
    const { name, uid = '' } = binding.metadata;
    if (!(await remove(deps, binding))) throw unknown(uid);
    deps.audit.record({ type: 'GitBindingDeleted', by: caller, subject: uid, act: 'delete', data: { binding: name } });
    return { binding_id: uid, status: 'deleted' };
  };
}

/** Its volume is deleted with it. */
async function remove({ kube }: GitToolsDeps, { metadata }: GitBinding): Promise<boolean> {
  const { name, namespace = '', uid = '' } = metadata;
  try {
    await kube.delete(gitBindings, { name, namespace }, { uid, propagation: 'Background' });
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}

/** By uid, or by the name of the object. @throws AppError `not_found`, also for a binding of another tenant. */
async function find({ kube, tenants }: GitToolsDeps, caller: ToolCaller, id: string): Promise<GitBinding> {
  const namespace = namespaceOf(tenants, caller);
  const byId = isUid(id);
  const [found] = await findWanted(kube, gitBindings, {
    namespace,
    isWanted: ({ metadata }) => (byId ? metadata.uid : metadata.name) === id,
  });
  if (found === undefined) throw unknown(id);
  return found;
}

const pageLength = 50;

/** TOOL-RULE-14: pages in the order of their names. */
function lists({ kube, tenants }: GitToolsDeps): Give {
  return async (caller, { page, limit }) => {
    const length = typeof limit === 'number' ? limit : pageLength;
    const from = ((typeof page === 'number' ? page : 1) - 1) * length;
    const rows: object[] = [];
    let total = 0;
    for await (const { items } of listPages((paged) => kube.list(gitBindings, paged), {
      namespace: namespaceOf(tenants, caller),
    }))
      for (const binding of items) {
        if (total >= from && total < from + length) rows.push(summaryOf(binding));
        total += 1;
      }
    return { bindings: rows, page: from / length + 1, limit: length, total };
  };
}
