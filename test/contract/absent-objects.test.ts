import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

/**
 * `isNotFound` is any answer with the status 404, also of a proxy that has looked for no object. A process that takes it for
 * the end of an object loses what it holds of it, so these files alone use it; others ask `isAbsent` or call `findObject`.
 */
const permitted: Readonly<Record<string, string>> = {
  'lib/kube/kube-error.ts': 'defines it',
  'lib/kube/index.ts': 'exports it',
  'api/routes/executions/logs/follow-output.ts':
    'the kubelet says that it has no log without naming an object; the output is then read from the store',
  'cli/backends/kubernetes/logs.ts': 'as above',
};

it('a 404 counts as the absence of an object by isAbsent alone', () => {
  const root = resolve(import.meta.dirname, '../..');
  const users = globSync('{api,cli,client,controllers,crds,dev,edge,gateway,lib,relay}/**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.test.ts'))
    .filter((path) => /\bisNotFound\b/.test(readFileSync(resolve(root, path), 'utf8')));
  expect(users.toSorted()).toEqual(Object.keys(permitted).toSorted());
});
