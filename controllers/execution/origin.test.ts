import { expect, it } from 'vitest';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { originOf } from './origin.ts';

const first = anExecution().ended('completed', 5).build();
const deps = {
  caches: { executions: { getByUid: (uid: string) => (uid === first.metadata.uid ? first : undefined) } },
  wholes: { whole: async () => first },
};
const { name, uid = '', namespace = '' } = first.metadata;

it.each<[string, object, string, boolean]>([
  ['by name and uid', { name, uid }, namespace, true],
  ['by its uid, under another name', { name: 'the-approved-one', uid }, namespace, false],
  ['by its name, with another uid', { name, uid: '00000000-0000-4000-8000-000000000000' }, namespace, false],
  ['of another namespace', { name, uid }, 'tenant-of-others', false],
])('WF-RUN-02 finds an origin %s', async (_title, origin, own, isFound) => {
  const execution = anExecution()
    .with({ origin } as never)
    .build();
  const found = await originOf(deps as never, {
    ...execution,
    metadata: { ...execution.metadata, namespace: own, uid: 'another' },
    status: undefined as never,
  });
  expect(found).toBe(isFound ? first : undefined);
});
