import { describe, expect, it } from 'vitest';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { createSecurityOf } from '../../gateway/lane/security-of.ts';
import { systemClock } from '../../lib/clock.ts';
import { KubeError, type KubeClient } from '../../lib/kube/index.ts';
import { revisionOf } from '../../lib/registration/revision.ts';
import { visiblePlaces } from '../../lib/tenant/visible-places.ts';
import { anAgent } from '../builders/agent-builder.ts';
import { createDefinitions } from '../../api/agents/definitions.ts';

type Contexts = Readonly<Record<string, SecurityContextSpec>>;

/** An agent of the tenant `acme` that names a context, as the API runs it. */
function definitionOf(contexts: Contexts, context?: string) {
  const plain = anAgent();
  const agent = context === undefined ? plain : { ...plain, spec: { ...plain.spec, security: { context } } };
  const revision = revisionOf(agent);
  const get = async ({ plural }: { plural: string }, { namespace = '', name = '' }) => {
    if (plural === 'controllerrevisions') return revision;
    const spec = contexts[`${namespace}/${name}`];
    if (spec === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: plural });
    return { metadata: { name, namespace }, spec };
  };
  const pin = { name: 'reviewer', namespace: 'tenant-a', uid: 'uid-of-reviewer', version: '1.0.0' };
  const execution = {
    metadata: { name: 'x', namespace: 'tenant-a' },
    status: { agent: { ...pin, revision: revision.metadata.name } },
  } as AgentExecution;
  return createDefinitions({ kube: { get } as unknown as Pick<KubeClient, 'get'>, clock: systemClock }).of(execution);
}

/** The same context for a session of the same tenant, as the gateway finds it. */
const sessionsContext = (contexts: Contexts, name = 'default'): SecurityContextSpec | undefined =>
  createSecurityOf({
    contexts: {
      get: (key) => (contexts[key] === undefined ? undefined : ({ metadata: {}, spec: contexts[key] } as never)),
    },
    tenancy: { visibleTo: () => visiblePlaces('tenant-a') },
  })('acme', name);

const own = { tools: ['own.*'] };
const shared = { tools: ['shared.*'] };
const others = { tools: ['others.*'] };

describe('AMB-195 the SecurityContext of an agent, and of a session that names the same', () => {
  it.each<[string, Contexts, string | undefined, SecurityContextSpec]>([
    ['that of its tenant', { 'tenant-a/desk': own }, 'desk', own],
    ['the shared one where its tenant has none', { 'windlass-global/desk': shared }, 'desk', shared],
    ['that of its tenant before the shared one', { 'tenant-a/desk': own, 'windlass-global/desk': shared }, 'desk', own],
    ['the shared default where it names none', { 'windlass-global/default': shared }, undefined, shared],
    ['empty where nothing is named default', { 'tenant-b/default': others }, undefined, {}],
  ])('is %s', async (_title, contexts, name, want) => {
    expect((await definitionOf(contexts, name)).security).toEqual(want);
    expect(sessionsContext(contexts, name)).toEqual(want);
  });

  it('is missing where another tenant alone has it', async () => {
    const contexts = { 'tenant-b/desk': others };
    await expect(definitionOf(contexts, 'desk')).rejects.toMatchObject({ reason: 'SecurityContextNotFound' });
    expect(sessionsContext(contexts, 'desk')).toBeUndefined();
  });
});
