import { LRUCache } from 'lru-cache';
import type { GitBinding, GitBindingSpec } from '../../crds/schema/git-binding.ts';
import type { Clock } from '../../lib/clock.ts';
import { isTimeUp } from '../../lib/deadline.ts';
import { defined } from '../../lib/defined.ts';
import { AppError } from '../../lib/errors.ts';
import { gitBindings } from '../../lib/kinds.ts';
import { findObject, type KubeClient } from '../../lib/kube/index.ts';
import { lookUntil } from '../../lib/look-until.ts';

/** How often a binding is looked at, and how long at most: a pod has to start, and git has its own limit. */
const waiting = { everyMs: 250, ms: 330_000 };

interface WaitDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
}

interface Wanted {
  readonly isSettled: (binding: GitBinding) => boolean;
  /** The answer where that is not so when the time of the call, or of a wait, is up. */
  readonly late: () => AppError;
}

/** Waits until a binding is as wanted. @throws AppError where it is gone or the time is up; the reason of `signal`. */
export async function settle(
  { kube, clock }: WaitDeps,
  { metadata }: GitBinding,
  signal: AbortSignal,
  { isSettled, late }: Wanted,
): Promise<GitBinding> {
  const { name, namespace = '', uid = '' } = metadata;
  const look = async (): Promise<GitBinding> => {
    if (!isTimeUp(signal)) signal.throwIfAborted();
    const found = await findObject(kube, gitBindings, { name, namespace });
    if (found?.metadata.uid !== uid) throw unknown(uid);
    return found;
  };
  const looks = { clock, signal, ...waiting, isOver: () => isTimeUp(signal) };
  const { value, isWanted } = await lookUntil(looks, look, isSettled);
  if (isWanted) return value;
  throw late();
}

export const unknown = (id: string): AppError =>
  new AppError('not_found', `there is no binding ${JSON.stringify(id.slice(0, 128))}; svc.git.list names them`, {
    reason: 'NOT_FOUND',
  });

/** Nothing can be done for it, for now or for ever. */
export const isBlocked = (status: GitBinding['status']): boolean =>
  status?.phase === 'failed' && status.request?.phase !== 'running';

/** It was answered, or another request has taken its place. */
export const isOver =
  (id: string) =>
  ({ spec, status }: GitBinding): boolean =>
    status?.answered?.id === id || (spec.request?.id !== id && isAnswered(spec, status));

const isFree = ({ spec, status }: GitBinding): boolean =>
  status?.request?.phase !== 'running' &&
  (status?.tried_at !== undefined || isBlocked(status)) &&
  (spec.request === undefined || isAnswered(spec, status));

/** Answers that this process has read, by the id of their request; and how often one is left for another process to read. */
const answersKept = 1_000;
const looksForOthers = 4;

/**
 * A binding holds the answer of one request alone. The next request leaves an answer that this process has not read itself for so
 * many looks, in which the process that asked for it looks as often.
 */
export class ReadAnswers {
  readonly #read = new LRUCache<string, true>({ max: answersKept });

  add(id: string): void {
    this.#read.set(id, true);
  }

  /** `isFree`, for one request that waits. */
  freeForNext(): (binding: GitBinding) => boolean {
    let left = looksForOthers;
    let last: string | undefined;
    return (binding) => {
      if (!isFree(binding)) return false;
      const id = binding.spec.request?.id;
      if (id === undefined || this.#read.has(id)) return true;
      if (id !== last) left = looksForOthers;
      last = id;
      left -= 1;
      return left < 0;
    };
  }
}

const isAnswered = ({ request }: GitBindingSpec, status: GitBinding['status']): boolean =>
  request?.id === status?.answered?.id;

/** The newest operation that a tool asked for, as callers see it: `pending`, `running`, or how it ended. */
export function operationOf({ spec, status }: Pick<GitBinding, 'spec' | 'status'>): object | undefined {
  const { request } = spec;
  if (request === undefined) return undefined;
  const known = [status?.answered, status?.request].find((one) => one?.id === request.id);
  const { error, message } = known ?? {};
  return { id: request.id, op: request.op, phase: known?.phase ?? 'pending', ...defined({ error, message }) };
}
