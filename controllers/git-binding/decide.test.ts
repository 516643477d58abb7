import { describe, expect, it } from 'vitest';
import type { GitBindingSpec, GitBindingStatus } from '../../crds/schema/git-binding.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import { aGitBinding, aGitVolume } from '../../test/builders/git-binding.ts';
import { decideGit, type GitDecision, gitSource, sourceText } from './decide.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const at = (milliseconds: number): string => new Date(now + milliseconds).toISOString();

interface Case {
  readonly spec?: Partial<GitBindingSpec>;
  readonly status?: Partial<GitBindingStatus>;
  readonly volume?: Volume | 'none';
  readonly isTenant?: boolean;
  readonly hasImage?: boolean;
}

function decide({ spec, status, volume, isTenant = true, hasImage = true }: Case): GitDecision {
  const binding = aGitBinding(spec, status);
  const found = volume === 'none' ? undefined : (volume ?? aGitVolume());
  return decideGit({ binding, volume: found, isTenant, hasImage, now });
}

/** A binding whose first sync ended a second ago. */
const synced: Partial<GitBindingStatus> = {
  volume: { name: 'git-site', uid: 'volume-uid' },
  tried_source: sourceText(gitSource(aGitBinding())),
  tried_at: at(-1_000),
  commit: 'a'.repeat(40),
};
const request = { id: 'r1', op: 'commit', message: 'Mend' } as const;
const running = { id: 'r1', op: 'commit', phase: 'running', attempt: 2, pod: 'p' } as const;

describe('decideGit', () => {
  it.each<[title: string, given: Case, want: object]>([
    ['is for tenants', { isTenant: false }, { kind: 'blocked', reason: 'NotATenant' }],
    ['needs an image', { hasImage: false }, { kind: 'blocked', reason: 'GitUnavailable' }],
    ['makes a volume first', { volume: 'none' }, { kind: 'make-volume' }],
    [
      'does not take a volume of another owner',
      { volume: aGitVolume({ owner: 'stranger' }) },
      { kind: 'blocked', reason: 'VolumeTaken' },
    ],
    [
      'waits for its claim',
      { volume: aGitVolume({ claim: undefined }) },
      { kind: 'blocked', reason: 'VolumesPending' },
    ],
    [
      'says that its volume failed',
      { volume: aGitVolume({ phase: 'failed' }) },
      { kind: 'blocked', reason: 'VolumeFailed' },
    ],
    ['begins with a sync', {}, { kind: 'begin', job: { id: 'sync-3', op: 'sync', attempt: 1 } }],
    ['rests with a tree', { status: synced }, { kind: 'rest' }],
    ['syncs another ref', { status: synced, spec: { ref: 'next' } }, { kind: 'begin', job: { op: 'sync' } }],
    [
      'syncs with another Secret',
      { status: synced, spec: { credentials: { secret: { name: 'new' } } } },
      { kind: 'begin', job: { op: 'sync' } },
    ],
    [
      'syncs into another volume',
      { status: { ...synced, volume: { name: 'git-site', uid: 'gone' } } },
      { kind: 'begin', job: { op: 'sync' } },
    ],
    ['does not try a failed sync again by itself', { status: { ...synced, sync_error: 'x' } }, { kind: 'rest' }],
    [
      'does what is asked for',
      { status: synced, spec: { request } },
      { kind: 'begin', job: { ...request, attempt: 1 } },
    ],
    [
      'does it once',
      {
        status: { ...synced, answered: { id: 'r1', op: 'commit', phase: 'succeeded', attempt: 1 } },
        spec: { request },
      },
      { kind: 'rest' },
    ],
    [
      'lets an operation end before the next one begins',
      { status: { ...synced, request: { ...running, op: 'sync', id: 'sync-3' } }, spec: { request } },
      { kind: 'follow', job: { id: 'sync-3', op: 'sync', attempt: 2, pod: 'p' } },
    ],
    [
      'knows the message of a commit that runs',
      { status: { ...synced, request: running }, spec: { request } },
      { kind: 'follow', job: { message: 'Mend' } },
    ],
    [
      'knows no message where another request took its place',
      { status: { ...synced, request: running }, spec: { request: { id: 'r2', op: 'push' } } },
      { kind: 'follow', job: { message: undefined } },
    ],
    ['rests until its time', { status: synced, spec: { refresh_seconds: 60 } }, { kind: 'rest', lookAt: now + 59_000 }],
    [
      'rests a millisecond before its time',
      { status: { ...synced, tried_at: at(-59_999) }, spec: { refresh_seconds: 60 } },
      { kind: 'rest', lookAt: now + 1 },
    ],
    [
      'syncs at its time',
      { status: { ...synced, tried_at: at(-60_000) }, spec: { refresh_seconds: 60 } },
      { kind: 'begin', job: { id: `sync-at-${now}`, op: 'sync' } },
    ],
  ])('%s', (_title, given, want) => expect(decide(given)).toMatchObject(want));
});
