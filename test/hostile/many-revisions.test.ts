import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { systemClock } from '../../lib/clock.ts';
import { type HttpPeer, startHttpPeer } from '../support/http-peer.ts';
import { createCredentialSource, createKubeClient, type KubeClient } from '../../lib/kube/index.ts';
import { revisionOf } from '../../lib/registration/revision.ts';
import { storedRevision } from '../../lib/registration/stored-version.ts';
import { anEnd, aWorkflow } from '../builders/workflow-builder.ts';

const copies = 12;

/**
 * The attacker has stored as many contents of one version as force made, each as large as etcd takes, or writes revisions
 * that look like it.
 */
describe('many large contents of one version', () => {
  const metadata = { name: 'build', namespace: 'a', uid: '00000000-0000-4000-8000-000000000001' };
  const contentOf = (number: number): Workflow => ({
    ...aWorkflow('build').state('done', anEnd()).build(),
    metadata: { ...metadata, generation: number },
  });
  const workflow = contentOf(1);
  /** Definitions of a million letters each, all different. */
  const revision = (number: number) => {
    const { spec } = contentOf(number);
    return revisionOf({ ...contentOf(number), spec: { ...spec, description: `${number} ${'x'.repeat(1_000_000)}` } });
  };
  const revisions = Array.from({ length: copies }, (_, index) => revision(index + 1));
  const limits: number[] = [];
  let peer: HttpPeer;
  let kube: KubeClient;

  beforeAll(async () => {
    peer = await startHttpPeer((request, response) => {
      const limit = Number(request.query.get('limit') ?? copies);
      const from = Number(request.query.get('continue') ?? 0);
      limits.push(limit);
      const items = revisions.slice(from, from + limit);
      const next = from + limit < copies ? { continue: String(from + limit) } : {};
      const text = JSON.stringify({ metadata: { resourceVersion: '10', ...next }, items });
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    });
    const credentials = createCredentialSource(async () => ({ server: peer.url, tls: {}, headers: {} }), {
      now: Date.now,
    });
    kube = createKubeClient({ credentials, clock: systemClock });
  });
  afterAll(async () => {
    await kube?.close();
    await peer?.close();
  });

  it('are read in pages of a few, and the last of them counts', async () => {
    const found = await storedRevision(kube, workflow, workflow.spec.version);
    expect(found?.revision).toBe(copies);
    expect(Math.min(...limits)).toBeLessThanOrEqual(4);
    expect(limits.at(-1)).toBeLessThan(copies);
  });
});
