import { LRUCache } from 'lru-cache';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { registeredNameOf } from '../../lib/api-spec/index.ts';
import type { EventBus, KeyValueChange } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { InformerChange } from '../../lib/informer/informer.ts';
import type { Logger } from '../../lib/logger.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';

/**
 * Names that tool workflows have, or have had in the last 90 days: a call of one that is gone is answered 404, and not as
 * an unknown tool (GW-WF-41). Replicas know what others, and processes before them, have seen.
 */
export interface FormerNames {
  has(namespace: string, name: string): boolean;
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

const definition = { name: 'gateway_workflow_names', ttlMs: 90 * 24 * 3_600_000 };
/** Names that are to be stored, and those of this process that the bus did not take. */
const keptNames = 10_000;
const writeEveryMs = 2_000;
const retryMs = 30_000;

const keyOf = ({ namespace, name }: Named): string => `${namespace}/${name}`;

export function createFormerNames(deps: FormerDeps): FormerNames {
  const seen = new LRUCache<string, Named>({ max: keptNames });
  const unwritten = new LRUCache<string, Named & { readonly isGone: boolean }>({ max: keptNames });
  const known = createView();
  deps.onChange(({ before, after }) => {
    const workflow = after ?? before;
    if (workflow === undefined) return;
    const named = { namespace: workflow.metadata.namespace ?? '', name: registeredNameOf(workflow) };
    const isGone = after === undefined;
    seen.set(keyOf(named), named);
    if (isGone || !known.has(named)) unwritten.set(keyOf(named), { ...named, isGone });
  });
  return {
    has: (namespace, name) => seen.has(keyOf({ namespace, name })) || known.has({ namespace, name }),
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
  const byKey = new Map<string, string>();
  const names = new Set<string>();
  let isCurrent = false;
  return {
    get isCurrent() {
      return isCurrent;
    },
    has: (named) => names.has(keyOf(named)),
    take(change) {
      if (change.kind === 'current') isCurrent = true;
      if (change.kind === 'begin') {
        byKey.clear();
        names.clear();
      }
      if (change.kind === 'put') {
        byKey.set(change.name, keyOf(change.value));
        names.add(keyOf(change.value));
      }
      if (change.kind === 'end') {
        names.delete(byKey.get(change.name) ?? '');
        byKey.delete(change.name);
      }
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
    if (named.isGone || !known.has(named)) await store(deps, named);
    if (unwritten.get(key) === named) unwritten.delete(key);
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
