import { describe, expect, it } from 'vitest';
import type { Volume } from '../../crds/schema/volume.ts';
import type { BusEvent } from '../../lib/bus/index.ts';
import { after, begin } from '../../test/builders/execution-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createFactSink } from '../runtime/facts.ts';
import { endFact } from './end-fact.ts';

/** Seconds after `begin`. */
function setUp(now = 60) {
  const raised: BusEvent[] = [];
  const tenants = { tenantOf: (namespace: string) => (namespace === 'default' ? 'acme' : undefined) };
  const clock = createManualClock(begin + now * 1_000);
  const facts = createFactSink({ events: { raise: (event) => void raised.push(event) }, clock, tenants });
  return { facts, raised };
}

function aVolume(spec: Partial<Volume['spec']> = {}, namespace = 'default'): Volume {
  return {
    apiVersion: 'windlass.dev/v1',
    kind: 'Volume',
    metadata: { name: 'data', namespace, uid: 'volume-uid' },
    spec: { storage_class: 'ephemeral', expires_at: after(30), ...spec },
    status: { claim_name: 'data' },
  };
}

describe('the end of a volume', () => {
  const data = { volume_id: 'volume-uid', volume: 'data', namespace: 'default', claim: 'data' };

  it('ORCH-EVT-02 that expired is published as VolumeExpired', () => {
    const { facts, raised } = setUp();
    facts.raise(endFact(aVolume(), 'expired', after(30)));
    expect(raised).toMatchObject([
      {
        id: 'volume-uid-expired',
        topic: 'volume',
        type: 'VolumeExpired',
        subject: 'volume-uid',
        tenant: 'acme',
        time: after(30),
        data: { ...data, storage_class: 'ephemeral', expires_at: after(30), claim_kept: false },
      },
    ]);
  });

  it('ORCH-EVT-02 that expired while no controller ran is published when one looks', () => {
    const { facts, raised } = setUp(7_200);
    facts.raise(endFact(aVolume(), 'expired', after(7_200)));
    expect(raised).toMatchObject([{ type: 'VolumeExpired', time: after(7_200) }]);
  });

  it('ORCH-EVT-03 that was deleted is published as VolumeDeleted, with the fate of its claim', () => {
    const { facts, raised } = setUp();
    facts.raise(endFact(aVolume({ claim_name: 'theirs' }), 'deleted', after(60)));
    expect(raised).toMatchObject([
      { id: 'volume-uid-deleted', topic: 'volume', type: 'VolumeDeleted', time: after(60), data: { claim_kept: true } },
    ]);
  });

  it('is not published where the namespace is no tenant', () => {
    const { facts, raised } = setUp();
    facts.raise(endFact(aVolume({}, 'elsewhere'), 'deleted', after(60)));
    expect(raised).toEqual([]);
  });
});
