import { LRUCache } from 'lru-cache';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { registeredNameOf } from '../../lib/api-spec/index.ts';
import { type EventBus, type KeyValueChange, ShareUsedError } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { createSharedCache, entryWith, sharesOf } from '../../lib/shared-cache.ts';
import type { InformerChange } from '../../lib/informer/informer.ts';
import type { Logger } from '../../lib/logger.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';

/**
 * Names that tool workflows have, or have had in the last 90 days: a call of one that is gone is answered 404, and not as
 * an unknown tool (GW-WF-41). Replicas know what others, and processes before them, have seen. In each namespace, the newest
 * `namesOfNamespace` are known; the name of one that is gone before those is one of an unknown tool.
 */
export interface FormerNames {
  has(namespace: string, name: string): boolean;
  /** Names that other processes have seen are read. */
  readonly isCurrent: boolean;
  /** Follows and stores names until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

interface FormerDeps {
  readonly bus: Pick<EventBus, 'bucket' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
  /** Tells of each change that the watch brings. */
  readonly onChange: (handler: (change: InformerChange<ToolWorkflow>) => void) => void;
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

const definition = {
  name: 'gateway_workflow_names',
  ttlMs: 90 * 24 * 3_600_000,
  holds: 'names of tool workflows',
};
/** Names of one namespace that a replica keeps. */
export const namesOfNamespace = 2_000;
/** Names that are to be stored. */
const unwrittenMost = 10_000;
const writeEveryMs = 2_000;
const retryMs = 30_000;

const keyOf = ({ namespace, name }: Named): string => `${namespace}/${name}`;

export function createFormerNames(deps: FormerDeps): FormerNames {
  /** Those of this process, which the bus may not have taken. */
  const seen = createSharedCache<Named>({
    ...sharesOf(bytesOf('names of tool workflows')),
    weigh: ({ namespace, name }, key) => entryWith(key, namespace, name),
  });
  const unwritten = new LRUCache<string, Named & { readonly isGone: boolean }>({ max: unwrittenMost });
  const known = createView();
  deps.onChange(({ before, after }) => {
    const workflow = after ?? before;
    if (workflow === undefined) return;
    const named = { namespace: workflow.metadata.namespace ?? '', name: registeredNameOf(workflow) };
    const isGone = after === undefined;
    seen.set(named.namespace, keyOf(named), named);
    if (isGone || !known.has(named)) unwritten.set(keyOf(named), { ...named, isGone });
  });
  return {
    has: (namespace, name) =>
      seen.get(namespace, keyOf({ namespace, name })) !== undefined || known.has({ namespace, name }),
    get isCurrent() {
      return known.isCurrent;
    },
    async run(signal) {
      await Promise.all([follow(deps, known, signal), write(deps, { known, unwritten }, signal)]);
    },
  };
}

/** The bucket as the watch tells of it. */
interface View {
  readonly isCurrent: boolean;
  has(named: Named): boolean;
  take(change: KeyValueChange<Named>): void;
}

function createView(): View {
  /** By the key of the bucket, of each namespace, the oldest first. */
  const byNamespace = new Map<string, Map<string, string>>();
  const names = new Set<string>();
  let isCurrent = false;
  const drop = (of: Map<string, string>, key: string): void => {
    names.delete(of.get(key) ?? '');
    of.delete(key);
  };
  const put = (key: string, named: Named): void => {
    const of = byNamespace.get(named.namespace) ?? new Map<string, string>();
    byNamespace.set(named.namespace, of);
    drop(of, key);
    of.set(key, keyOf(named));
    names.add(keyOf(named));
    const [oldest] = of.keys();
    if (of.size > namesOfNamespace && oldest !== undefined) drop(of, oldest);
  };
  return {
    get isCurrent() {
      return isCurrent;
    },
    has: (named) => names.has(keyOf(named)),
    take(change) {
      if (change.kind === 'current') isCurrent = true;
      if (change.kind === 'begin' || change.kind === 'lost') isCurrent = false;
      if (change.kind === 'begin') {
        byNamespace.clear();
        names.clear();
      }
      if (change.kind === 'put') put(change.name, change.value);
      if (change.kind === 'end') for (const of of byNamespace.values()) drop(of, change.name);
    },
  };
}

async function follow({ bus, logger }: FormerDeps, view: View, signal: AbortSignal): Promise<void> {
  try {
    for await (const change of bus.watch<Named>(definition, signal)) view.take(change);
  } catch (error) {
    logger.warn({ problem: messageOf(error) }, 'names of tool workflows are not followed');
  }
}

interface Unwritten {
  readonly known: View;
  readonly unwritten: LRUCache<string, Named & { readonly isGone: boolean }>;
}

async function write(deps: FormerDeps, names: Unwritten, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const waitMs = await writeAll(deps, names, signal).then(
      () => writeEveryMs,
      (error: unknown) => {
        deps.logger.warn({ problem: messageOf(error) }, 'names of tool workflows are not stored');
        return retryMs;
      },
    );
    await deps.clock.sleep(waitMs, signal);
  }
}

/** Until the bucket is known, every name would be written again. */
async function writeAll(deps: FormerDeps, { known, unwritten }: Unwritten, signal: AbortSignal): Promise<void> {
  if (!known.isCurrent) return;
  const batch = [...unwritten.entries()];
  for (const [key, named] of batch) {
    if (signal.aborted) return;
    if (named.isGone || !known.has(named)) await storeWithinShare(deps, named);
    if (unwritten.get(key) === named) unwritten.delete(key);
  }
}

/** A name of a tenant that has its share of keys is known to this process alone; those of other tenants are stored. */
async function storeWithinShare(deps: FormerDeps, named: Named): Promise<void> {
  try {
    await store(deps, named);
  } catch (error) {
    if (!(error instanceof ShareUsedError)) throw error;
    deps.logger.warn({ namespace: named.namespace, problem: error.message }, 'name of a tool workflow is not stored');
  }
}

/** A name is kept for 90 days after its workflow was there last. */
async function store({ bus, tenants }: FormerDeps, { namespace, name }: Named): Promise<void> {
  const bucket = bus.bucket<Named>(definition);
  const key = keyOf({ namespace, name });
  const made = await bucket.create(key, { namespace, name }, tenants.tenantOf(namespace) ?? namespace);
  if (made !== undefined) return;
  const found = await bucket.get(key);
  if (found !== undefined) await bucket.update(key, found.value, found.revision);
}
