import { describe, expect, it } from 'vitest';
import { annotations, labels } from '../../../crds/labels.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { ownerKey, scopeOf } from '../../../lib/workflow-lookup/index.ts';
import { workflowName } from '../../../lib/manifest/index.ts';
import { anEnd, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { inScope, namespaceOf } from './target.ts';

const ada = { subject: 'auth0|ada@example.com', tenant: 'acme' };
const built = aWorkflow('build').state('end', anEnd()).build();
const full: Workflow = {
  ...built,
  metadata: { name: 'build', labels: { team: 'web' }, annotations: { note: 'kept', [annotations.formerIds]: 'u1' } },
};

describe('a workflow as an object of a scope', () => {
  it.each(['tenant', 'global'] as const)('WF-API-12 has its own name in the scope %s', (scope) => {
    expect(inScope(full, scope, ada)).toEqual({ ...full, metadata: { ...full.metadata } });
  });

  it('WF-API-12 of a user carries its owner, and a name that no other user’s can have', () => {
    const own = inScope(full, 'user', ada);
    expect(own.metadata.labels).toEqual({ team: 'web', [labels.user]: ownerKey(ada.subject) });
    expect(own.metadata.annotations).toMatchObject({ [annotations.user]: ada.subject, [annotations.name]: 'build' });
    expect(workflowName(own.metadata)).toBe('build');
    expect(scopeOf({ metadata: { ...own.metadata, namespace: 'tenant-acme' } })).toBe('user');
    expect(inScope(full, 'user', { subject: 'sam' }).metadata.name).not.toBe(own.metadata.name);
    expect(own.metadata.name).toMatch(/^[a-z0-9-]{1,63}$/);
  });

  it('WF-API-13 comes back as it was, whatever it was in between', () => {
    expect(inScope(inScope(full, 'user', ada), 'tenant', ada)).toEqual(full);
    const odd = inScope({ ...full, metadata: { name: 'dash-' } }, 'tenant', ada);
    expect(inScope(inScope(odd, 'user', ada), 'global', ada)).toEqual(odd);
  });

  it('WF-API-13 leaves behind what speaks of one object alone', () => {
    const noted = { [annotations.force]: 'true', 'kubectl.kubernetes.io/last-applied-configuration': '{}', mine: 'x' };
    const moved = inScope({ ...built, metadata: { name: 'build', annotations: noted } }, 'global', ada);
    expect(moved.metadata).toEqual({ name: 'build', annotations: { mine: 'x' } });
  });
});

describe('where a scope is', () => {
  const tenants = { namespaceOf: (slug: string) => (slug === 'acme' ? 'tenant-acme' : undefined) };

  it.each([
    ['user', 'tenant-acme'],
    ['tenant', 'tenant-acme'],
    ['global', 'windlass-global'],
  ] as const)('WF-API-12 %s is %s', (scope, namespace) => {
    expect(namespaceOf(tenants, ada, scope)).toBe(namespace);
  });

  it('AMB-026 is nowhere for a tenant that is not set up, except for the global one', () => {
    const stranger = { subject: 'x', tenant: 'nobody' };
    expect(() => namespaceOf(tenants, stranger, 'tenant')).toThrow('Tenant not found');
    expect(namespaceOf(tenants, stranger, 'global')).toBe('windlass-global');
  });
});
