import { Type } from 'typebox';
import { conditionTypes } from '../../crds/conditions.ts';
import { globalNamespace } from '../../crds/labels.ts';
import type { Condition } from '../../crds/schema/condition.ts';
import { oneOf, timestamp } from '../../crds/schema/parts.ts';
import { type Registered, registeredNameOf } from '../../lib/api-spec/index.ts';
import { createListCursor, type Cursor, nextCursor, pageQuery } from '../../lib/http/paging.ts';

export const scope = oneOf(['tenant', 'global'], { description: 'Whether all tenants share it.' });

/** Fields of every record of the control plane (requirements AMB-196). */
export const recordFields = {
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  scope,
  created_at: timestamp(),
  ready: Type.Optional(
    Type.Object(
      { status: Type.String(), reason: Type.String(), message: Type.String() },
      { additionalProperties: false, description: 'The verdict of the controllers; absent until they have looked.' },
    ),
  ),
};

export const Creation = Type.Object({ id: recordFields.id, name: recordFields.name }, { additionalProperties: false });

export const idParams = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 64, description: 'Id, as the list shows it.' }),
});

export const listQuery = Type.Object(pageQuery('Items'));

export const listOf = <T extends Parameters<typeof Type.Array>[0]>(item: T) =>
  Type.Object(
    {
      items: Type.Array(item),
      next_cursor: nextCursor,
    },
    { additionalProperties: false },
  );

type Presented = Registered & { readonly status?: { readonly conditions?: readonly Condition[] } };

/** Whether all tenants share an object, for any caller (requirements AMB-196). */
export const sharedScope = ({ metadata }: Pick<Registered, 'metadata'>): 'global' | 'tenant' =>
  metadata.namespace === globalNamespace ? 'global' : 'tenant';

/** The fields of `recordFields`. */
export function presentRecord(object: Presented) {
  const ready = object.status?.conditions?.find(({ type }) => type === conditionTypes.ready);
  const { uid = '', creationTimestamp = '' } = object.metadata;
  return {
    id: uid,
    name: registeredNameOf(object),
    scope: sharedScope(object),
    created_at: creationTimestamp,
    ...(ready && { ready: { status: ready.status, reason: ready.reason, message: ready.message } }),
  };
}

/** Lists are ordered by name, and then by id: two objects may claim one name. */
export const byName = {
  keyOf: (object: Registered): string => `${registeredNameOf(object)}/${object.metadata.uid ?? ''}`,
  compare: (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1),
};

const keyForm = /^[\w.-]{1,253}\/[0-9a-f-]{0,36}$/;

export const createNameCursor = (list: string): Cursor<string> =>
  createListCursor(
    list,
    (key) => key,
    (text) => (keyForm.test(text) ? text : undefined),
  );
