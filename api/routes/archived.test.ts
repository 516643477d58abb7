import { describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import type { ArchiveReader } from '../../lib/archive/archive-store.ts';
import { writeRecord } from '../../lib/archive/record.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { createArchives } from './archived.ts';

const owners = new Map([
  ['acme', 'uid-of-acme'],
  ['rival', 'uid-of-rival'],
]);

/** An archive with one record of acme, that notes what it is asked. */
async function archiveOf() {
  const asked: string[] = [];
  const body = await writeRecord(
    anExecution('build-1').ended('completed', 3).build(),
    async () => Buffer.alloc(0),
    async () => undefined,
  );
  const archive: ArchiveReader = {
    async read(owner, nameOrUid) {
      asked.push(`${owner}/${nameOrUid}`);
      return owner === 'uid-of-acme' && nameOrUid === 'build-1' ? body : undefined;
    },
    page: async () => ({ rows: [], next: undefined }),
  };
  return {
    archived: createArchives({ archive, clock: systemClock, ownerOf: (tenant) => owners.get(tenant) }).workflows,
    asked,
  };
}

const name = async ({ execution }: { execution: { metadata: { name: string } } }) => execution.metadata.name;

describe('AMB-174 the archive as a tenant sees it', () => {
  it('has the records of the namespace that is the tenant’s now, and of no other', async () => {
    const { archived } = await archiveOf();
    expect(await archived.find('acme', 'build-1', name)).toBe('build-1');
    expect(await archived.find('rival', 'build-1', name)).toBeUndefined();
    expect(await archived.find('nobody', 'build-1', name)).toBeUndefined();
  });

  it.each(['../uid-of-rival/record/x', '..', 'a/b', 'A', '', 'a'.repeat(300)])(
    'is not asked for %j, which is no name of an object',
    async (text) => {
      const { archived, asked } = await archiveOf();
      expect(await archived.find('acme', text, name)).toBeUndefined();
      expect(asked).toEqual([]);
    },
  );

  it('without an archive finds nothing, and says so where a list is asked for', async () => {
    const archived = createArchives({ archive: undefined, clock: systemClock, ownerOf: () => 'x' }).workflows;
    expect(await archived.find('acme', 'build-1', name)).toBeUndefined();
    await expect(archived.page('acme', { after: undefined, limit: 5 })).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Archive not configured',
    });
  });
});
