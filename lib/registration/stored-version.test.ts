import { expect, it } from 'vitest';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { KubeError } from '../kube/index.ts';
import { pinnedContent } from './pinned-content.ts';
import { revisionOf } from './revision.ts';
import { type RevisionReader, storedRevision } from './stored-version.ts';

const built = aWorkflow('deploy').state('end', anEnd()).build();
const workflow = { ...built, metadata: { name: 'deploy', namespace: 'acme', uid: 'w1', generation: 1 } };
const revision = revisionOf(workflow);
const { name: revisionName = '' } = revision.metadata;
const { version } = workflow.spec;
const listed = { ...workflow, status: { versions: [{ version, revision: revisionName }] } };

const refuse = (verb: string) => async (): Promise<never> => {
  throw new KubeError(403, { reason: 'Forbidden' }, { verb, resource: 'controllerrevisions.apps' });
};
const readerOf = (get: unknown, list: unknown = refuse('list')): RevisionReader => ({ get, list }) as never;
const unavailable = { code: 'unavailable', reason: 'DefinitionUnreadable' };

it('a version of the status is read where revisions may not be listed', async () => {
  expect(
    await storedRevision(
      readerOf(async () => revision),
      listed as never,
      version,
    ),
  ).toBe(revision);
});

it.each([
  [
    'listed, and the status names none',
    () =>
      storedRevision(
        readerOf(async () => revision),
        workflow,
        version,
      ),
  ],
  ['listed or read', () => storedRevision(readerOf(refuse('get')), listed as never, version)],
  [
    'read, which the status names',
    () =>
      storedRevision(
        readerOf(refuse('get'), async () => ({ metadata: {}, items: [] })),
        listed as never,
        version,
      ),
  ],
  [
    'read, which an execution has pinned',
    () => pinnedContent(readerOf(refuse('get')), 'Workflow', { namespace: 'acme', uid: 'w1', revision: revisionName }),
  ],
])('a revision that may not be %s is not lost', async (_title, read) => {
  await expect(read()).rejects.toMatchObject(unavailable);
});
