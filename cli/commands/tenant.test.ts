import { describe, expect, it } from 'vitest';
import type { Namespace } from '../../lib/kube/index.ts';
import { createLaunch } from '../launch.ts';
import type { CommandWorld } from '../command-context.ts';
import { tenantCommand } from './tenant.ts';

const aNamespace = (name: string): Namespace => ({ metadata: { name, uid: `uid-${name}` } });

/** Runs `tenant delete acme --yes` where these namespaces carry the tenant's label; gives what was deleted. */
async function deleteAcme(...labelled: readonly string[]): Promise<readonly unknown[]> {
  const deleted: unknown[] = [];
  const kube = {
    listAll: async () => ({ metadata: {}, items: labelled.map(aNamespace) }),
    delete: async (_: unknown, ref: object, options: object) => deleted.push({ ...ref, ...options }),
  };
  const world = {
    terminal: { out: () => undefined },
    open: { cluster: async () => ({ kube }) },
  } as unknown as CommandWorld;
  const command = tenantCommand(createLaunch(world, () => undefined));
  await command.parseAsync(['delete', 'acme', '--yes'], { from: 'user' }).catch((error: unknown) => {
    deleted.push(error);
  });
  return deleted;
}

describe('deleting a tenant', () => {
  it('deletes the one namespace with its label, and no later one of its name', async () => {
    expect(await deleteAcme('tenant-acme')).toEqual([{ name: 'tenant-acme', uid: 'uid-tenant-acme' }]);
  });

  it('deletes nothing where several carry its label, and names them', async () => {
    const message = "several namespaces carry the label of tenant 'acme': a-taker, tenant-acme";
    expect(await deleteAcme('tenant-acme', 'a-taker')).toMatchObject([{ exit: 'conflict', message }]);
  });

  it('says that there is none', async () => {
    expect(await deleteAcme()).toMatchObject([{ exit: 'not_found' }]);
  });
});
