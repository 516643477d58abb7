import { describe, expect, it } from 'vitest';
import { labels } from '../../crds/labels.ts';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { type ControllerRevision, KubeError, type KubeClient } from '../kube/index.ts';
import { revisionOf } from '../registration/revision.ts';
import { pinnedAgent } from './pinned-agent.ts';

const agent = anAgent();
const revision = revisionOf(agent);
const pin = {
  name: 'reviewer',
  namespace: 'tenant-a',
  uid: 'uid-of-reviewer',
  version: '1.0.0',
  revision: revision.metadata.name ?? '',
};

/** A server that has one revision, or refuses to give it. */
function serverOf(found: ControllerRevision | KubeError): Pick<KubeClient, 'get'> {
  const get = async () => {
    if (found instanceof KubeError) throw found;
    return found;
  };
  return { get } as unknown as Pick<KubeClient, 'get'>;
}

const refusal = (status: number, reason: string): KubeError =>
  new KubeError(status, { reason }, { verb: 'get', resource: 'controllerrevisions' });

describe('the definition that an agent execution runs', () => {
  it('is the stored content, also when the agent has another one by now', async () => {
    expect(await pinnedAgent(serverOf(revision), pin)).toEqual(agent.spec);
  });

  it('is unknown before it was fixed', async () => {
    expect(await pinnedAgent(serverOf(revision), undefined)).toBeUndefined();
  });

  it.each([
    ['of another agent', { ...pin, uid: 'other' }],
    ['of another namespace', { ...pin, namespace: 'tenant-b' }],
  ])('is not believed where the revision is one %s', async (_title, wrong) => {
    expect(await pinnedAgent(serverOf(revision), wrong)).toBeUndefined();
  });

  it('is not believed where the revision holds other content, or is one of a workflow', async () => {
    const changed = { ...revision, data: { spec: { ...agent.spec, description: 'evil' } } };
    expect(await pinnedAgent(serverOf(changed), pin)).toBeUndefined();
    const { [labels.agent]: name = '', [labels.agentUid]: uid = '' } = revision.metadata.labels ?? {};
    const marks = { [labels.workflow]: name, [labels.workflowUid]: uid };
    const ofWorkflow = { ...revision, metadata: { ...revision.metadata, labels: marks } };
    expect(await pinnedAgent(serverOf(ofWorkflow), pin)).toBeUndefined();
  });

  it('is unknown where the revision is gone, and other failures are thrown', async () => {
    expect(await pinnedAgent(serverOf(refusal(404, 'NotFound')), pin)).toBeUndefined();
    const refused = pinnedAgent(serverOf(refusal(403, 'Forbidden')), pin);
    await expect(refused).rejects.toMatchObject({ code: 'unavailable', reason: 'DefinitionUnreadable' });
    await expect(pinnedAgent(serverOf(refusal(500, 'InternalError')), pin)).rejects.toThrow(KubeError);
  });
});
