import { expect, it } from 'vitest';
import { createKubeHosts } from './kube-hosts.ts';

const never = (): never => {
  throw new Error('the server is not asked');
};

it('the hosts of a tenant whose namespace the relay has not heard of are not gone', async () => {
  const hosts = createKubeHosts({
    kube: { get: never, list: never, create: never, delete: never, replaceStatus: never },
    tenants: { namespaceOf: () => undefined, tenantOf: () => undefined },
    informer: { cache: new Map() as never, onChange: () => undefined },
  });
  await expect(hosts.find('acme', 'n')).rejects.toMatchObject({ code: 'unavailable' });
});
