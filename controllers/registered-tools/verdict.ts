import { conditionTypes } from '../../crds/conditions.ts';
import { globalNamespace } from '../../crds/labels.ts';
import type { Condition } from '../../crds/schema/condition.ts';
import { holderOf, isShared, type Registered, registeredNameOf } from '../../lib/api-spec/index.ts';
import { nextCondition } from '../runtime/next-condition.ts';

/** The reason and the sentence of a condition `Ready`; only `Accepted` makes it true. */
export interface ReadyVerdict<R extends string = string> {
  readonly reason: R;
  readonly message: string;
}

type Judged = Parameters<typeof nextCondition>[0];

export function readyOf(object: Judged, { reason, message }: ReadyVerdict, now: number): Condition {
  const status = reason === 'Accepted' ? 'True' : 'False';
  return nextCondition(object, { type: conditionTypes.ready, status, reason, message: message.slice(0, 1_000) }, now);
}

/** Whether agents can call what is there: it is a tenant's, or all tenants share it. */
export const isCallable = (
  namespace: string,
  { tenantOf }: { readonly tenantOf: (namespace: string) => string | undefined },
): boolean => namespace === globalNamespace || tenantOf(namespace) !== undefined;

/** Why an object is not judged further: its namespace is no tenant, or another that its tenant sees has its name. */
export function placeVerdict(
  object: Registered,
  rivals: readonly Registered[],
  isTenant: boolean,
): ReadyVerdict<'NotATenant' | 'NameTaken'> | undefined {
  const { namespace = '', uid } = object.metadata;
  if (!isTenant) return { reason: 'NotATenant', message: `namespace ${namespace} is no tenant` };
  const name = registeredNameOf(object);
  const holder = holderOf([...rivals, object].filter((rival) => registeredNameOf(rival) === name));
  if (holder === undefined || holder.metadata.uid === uid) return undefined;
  const why = isShared(holder) && !isShared(object) ? 'all tenants share' : 'is older';
  const place = `${holder.metadata.namespace}/${holder.metadata.name}`;
  return { reason: 'NameTaken', message: `the name ${name} is that of ${place}, which ${why}` };
}
