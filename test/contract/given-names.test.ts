import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogue } from '../../lib/tools/catalogue/catalogue.ts';
import { isOperator } from '../../lib/identity/roles.ts';
import { secretsFromEnvironment } from '../../api/routes/webhooks/secrets.ts';

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../api/generated/openapi.json'), 'utf8')) as {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly parameters?: readonly { readonly name: string }[] }>>>
  >;
};
const text = JSON.stringify(document);

describe('the names that the specification gives', () => {
  it('GEN-01 X-Svc-Signature is the header of webhooks', () => {
    const names = document.paths['/v1/webhooks/{source}']?.['post']?.parameters?.map(({ name }) => name.toLowerCase());
    expect(names).toContain('x-svc-signature');
  });

  it('GEN-01 SVC_ begins the variables of secrets', () => {
    const secrets = secretsFromEnvironment({ SVC_WEBHOOK_SECRET_MY_CI: 'a', WINDLASS_WEBHOOK_SECRET_OTHER: 'b' });
    expect([secrets('my-ci'), secrets('other')]).toEqual(['a', undefined]);
  });

  it('GEN-01 svc. begins the names of the orchestrator’s own tools', () => {
    const groups = new Set([...catalogue.keys()].map((name) => name.split('.')[0]));
    expect([...groups].filter((group) => !['fs', 'cmd', 'web', 'svc'].includes(group ?? ''))).toEqual([]);
    expect([...catalogue.keys()].filter((name) => name.startsWith('svc.')).length).toBeGreaterThan(50);
  });

  it('GEN-01 svc.edge. begins the scopes of edge mode', () => {
    const scopes = ['enroll', 'hosts.read', 'hosts.write', 'groups.write', 'fleet.read', 'fleet.manage'];
    expect(scopes.filter((scope) => !text.includes(`svc.edge.${scope}`))).toEqual([]);
  });

  it.each([
    ['svc:operator', true],
    ['svc:admin', true],
    ['windlass:operator', false],
    ['operator', false],
  ])('GEN-01 the role %s makes an operator: %s', (role, want) => {
    expect(isOperator({ roles: [role] })).toBe(want);
  });

  it('GEN-01 svc-edge-enroll is the scheme of enrollment links', () => {
    expect(text).toContain('svc-edge-enroll://');
  });
});
