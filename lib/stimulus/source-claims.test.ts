import { describe, expect, it } from 'vitest';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import { byAge, claimantOf, sourceKey, isWebhookSource, routerOfSource } from './source-claims.ts';

interface RouterFields {
  readonly name: string;
  readonly namespace?: string;
  readonly created?: string;
  readonly claimed?: string;
  readonly sources?: readonly string[];
  readonly deleting?: boolean;
}

const aRouter = ({ name, sources = ['github'], ...fields }: RouterFields): StimulusRouter => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'StimulusRouter',
  metadata: {
    name,
    namespace: fields.namespace ?? 'tenant-a',
    uid: name,
    creationTimestamp: fields.created ?? '2026-01-02T00:00:00Z',
    ...(fields.deleting ? { deletionTimestamp: '2026-02-01T00:00:00Z' } : {}),
  },
  spec: { routes: Object.fromEntries(sources.map((source) => [source, 'w'])) },
  ...(fields.claimed === undefined ? {} : { status: { claims: [{ source: 'github', since: fields.claimed }] } }),
});

describe('isWebhookSource', () => {
  it.each(['a', 'my-ci', 'my.ci', '0', 'stdin', `a${'b'.repeat(61)}c`])('STIM-13 AMB-043 takes %s', (source) => {
    expect(isWebhookSource(source)).toBe(true);
  });

  it.each(['', 'http_api', 'My-ci', '-a', 'a-', '.a', 'a.', 'a b', 'a/b', 'é', `a${'b'.repeat(62)}c`])(
    'STIM-13 AMB-043 does not take %j',
    (source) => {
      expect(isWebhookSource(source)).toBe(false);
    },
  );
});

describe('ownerOf', () => {
  const old = aRouter({ name: 'old', created: '2026-01-01T00:00:00Z' });
  const young = aRouter({ name: 'young', created: '2026-01-03T00:00:00Z', namespace: 'tenant-b' });

  const rows: [title: string, routers: StimulusRouter[], want: string | undefined][] = [
    ['none, where no router names the source', [aRouter({ name: 'other', sources: ['gitlab'] })], undefined],
    ['none of no routers', [], undefined],
    ['the only one', [young], 'young'],
    ['AMB-144 the oldest of several', [young, old], 'old'],
    [
      'the one whose claim is recorded, however young it is',
      [old, aRouter({ name: 'claims', claimed: '2026-03-01T00:00:00Z' })],
      'claims',
    ],
    [
      'the earlier of two recorded claims',
      [
        aRouter({ name: 'late', claimed: '2026-03-01T00:00:00.001Z', created: '2025-01-01T00:00:00Z' }),
        aRouter({ name: 'early', claimed: '2026-03-01T00:00:00.000Z' }),
      ],
      'early',
    ],
    [
      'of equally old ones the first namespace',
      [aRouter({ name: 'a', namespace: 'tenant-b' }), aRouter({ name: 'z', namespace: 'tenant-a' })],
      'z',
    ],
    ['of equally old ones in one namespace the first name', [aRouter({ name: 'b' }), aRouter({ name: 'a' })], 'a'],
    [
      'none that is being deleted',
      [aRouter({ name: 'going', deleting: true, claimed: '2026-01-01T00:00:00Z' }), young],
      'young',
    ],
  ];

  it.each(rows)('gives a source to %s', (_title, routers, want) => {
    expect(routerOfSource('github', routers)?.metadata.name).toBe(want);
    expect(routerOfSource('github', routers.toReversed())?.metadata.name).toBe(want);
  });

  it.each(['constructor', 'toString', 'hasOwnProperty'])('does not take the inherited %s for a route', (source) => {
    expect(routerOfSource(source, [old])).toBeUndefined();
  });
});

describe('claimantOf', () => {
  const hyphen = aRouter({ name: 'hyphen', sources: ['my-ci'], created: '2026-01-01T00:00:00Z' });
  const dot = aRouter({ name: 'dot', sources: ['my.ci'], created: '2026-01-02T00:00:00Z' });

  it('AMB-044 gives sources that differ in a dot and a hyphen to one router, for they have one secret', () => {
    for (const source of ['my-ci', 'my.ci']) {
      for (const routers of [
        [hyphen, dot],
        [dot, hyphen],
      ])
        expect(claimantOf(source, routers)).toBe(hyphen);
    }
    expect(claimantOf('my-ci', [dot])).toBe(dot);
    expect(claimantOf('myci', [dot, hyphen])).toBeUndefined();
  });

  it('keeps names apart that no webhook can have', () => {
    const routers = [aRouter({ name: 'a', sources: ['My.ci'] }), aRouter({ name: 'b', sources: ['My-ci'] })];
    expect(claimantOf('My-ci', routers)?.metadata.name).toBe('b');
    expect(new Set(['My.ci', 'My-ci', 'my.ci', 'my-ci'].map(sourceKey)).size).toBe(3);
  });

  it('believes no claim that is older than its router', () => {
    const forger = aRouter({ name: 'forger', created: '2026-06-01T00:00:00Z', claimed: '1970-01-01T00:00:00Z' });
    const honest = aRouter({ name: 'honest', created: '2026-01-01T00:00:00Z', claimed: '2026-01-01T00:00:01Z' });
    expect(claimantOf('github', [forger, honest])?.metadata.name).toBe('honest');
    expect(routerOfSource('github', [forger, honest])?.metadata.name).toBe('honest');
  });
});

describe('byAge', () => {
  it('puts the oldest first, then namespace and name, and leaves out what is being deleted', () => {
    const routers = [
      aRouter({ name: 'new', created: '2026-01-03T00:00:00Z' }),
      aRouter({ name: 'b' }),
      aRouter({ name: 'a' }),
      aRouter({ name: 'going', deleting: true }),
      aRouter({ name: 'oldest', created: '2026-01-01T00:00:00Z' }),
    ];
    expect(byAge(routers).map(({ metadata }) => metadata.name)).toEqual(['oldest', 'a', 'b', 'new']);
  });
});
