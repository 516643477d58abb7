import { describe, expect, it } from 'vitest';
import { cutMiddle, cutText } from './cut-text.ts';

describe('a text that is cut', () => {
  it.each([
    { text: 'abc', length: 2, want: 'ab' },
    { text: 'abc', length: 3, want: 'abc' },
    { text: 'abc', length: 4, want: 'abc' },
    { text: 'a😀c', length: 1, want: 'a' },
    { text: 'a😀c', length: 2, want: 'a' },
    { text: 'a😀c', length: 3, want: 'a😀' },
    { text: '', length: 0, want: '' },
  ])('$text at $length is $want', ({ text, length, want }) => {
    expect(cutText(text, length)).toBe(want);
  });
});

describe('a message that is too long', () => {
  const message = `Failed to pull image "registry.example.com/${'x'.repeat(300)}": dial tcp 10.0.0.1:443: connect: no route to host`;

  it('keeps its beginning and its cause at the end', () => {
    expect(cutMiddle(message, 256)).toMatch(/^Failed to pull image "registry.* … .*connect: no route to host$/);
    expect(cutMiddle(message, 256).length).toBe(256);
  });

  it('keeps the name of the image that cannot be pulled in the 256 characters of a visit', () => {
    const image = '172.30.198.101:35555/team/refused-absent:1';
    const why = `failed to pull and unpack image "${image}": failed to resolve reference "${image}": pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials`;
    const cut = cutMiddle(`step did not start within 12s; it waited: rpc error: code = Unknown desc = ${why}`, 256);
    expect(cut).toContain(image);
    expect(cut).toMatch(/no basic auth credentials$/);
  });

  it.each([
    [9, 'abcde … j'],
    [10, 'abcdefghij'],
    [11, 'abcdefghij'],
  ])('of ten characters at %d is %s', (length, want) => expect(cutMiddle('abcdefghij', length)).toBe(want));

  it('loses no half of a character', () => {
    for (let length = 4; length < 20; length++) expect(cutMiddle('😀'.repeat(10), length).isWellFormed()).toBe(true);
  });
});
