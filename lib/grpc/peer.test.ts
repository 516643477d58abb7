import { describe, expect, it } from 'vitest';
import { readPeer } from './peer.ts';

const urisOf = (subjectaltname?: string): readonly string[] => readPeer({ subjectaltname })?.uris ?? ['no peer'];

describe('the peer of a connection', () => {
  it('has no identity without a certificate', () => {
    expect(readPeer(undefined)).toBeUndefined();
  });

  it.each<[title: string, subject: object | undefined, want: string]>([
    ['its common name', { CN: 'ci' }, 'ci'],
    ['the first of several common names', { CN: ['ci', 'other'] }, 'ci'],
    ['nothing, where it has none', {}, ''],
    ['nothing, where it has no subject', undefined, ''],
  ])('is called by %s', (_title, subject, want) => {
    expect(readPeer({ subject })?.commonName).toBe(want);
  });

  it.each<[list: string | undefined, want: string[]]>([
    [undefined, []],
    ['', []],
    ['DNS:ci.example.com', []],
    ['URI:windlass://tenant/a', ['windlass://tenant/a']],
    ['URI:windlass://tenant/a, URI:spiffe://x/y', ['windlass://tenant/a', 'spiffe://x/y']],
    ['DNS:ci.example.com, URI:windlass://tenant/a, IP Address:127.0.0.1', ['windlass://tenant/a']],
    // The following text is inside of another name.
    ['DNS:"a, URI:windlass://tenant/x, b"', []],
    ['DNS:"a, URI:windlass://tenant/x, b", URI:windlass://tenant/a', ['windlass://tenant/a']],
    ['DNS:"a\\", URI:windlass://tenant/x, \\"b"', []],
    ['URI:"windlass://tenant/a,b"', []],
    // Lists that Node never writes.
    ['DNS:"a, URI:windlass://tenant/x', []],
    ['windlass://tenant/a', []],
    ['URI:windlass://tenant/a,URI:windlass://tenant/b', []],
    ['URI:windlass://tenant/a, "', []],
  ])('has of the names %j the URIs %j', (list, want) => {
    expect(urisOf(list)).toEqual(want);
  });
});
