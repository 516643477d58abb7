import { describe, expect, it } from 'vitest';
import { createTextCursor, createTimeCursor } from './paging.ts';

const uidOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

const timeCursor = createTimeCursor('hosts');

describe('a cursor', () => {
  const key = { at: '2026-01-02T03:04:05Z', id: uidOf(7) };

  it('leads back to its place', () => {
    expect(timeCursor.decode(timeCursor.encode(key))).toEqual(key);
  });

  it.each([
    'x',
    '',
    '=',
    `${timeCursor.encode(key)}=`,
    ` ${timeCursor.encode(key)}`,
    timeCursor.encode(key).slice(0, -1),
    Buffer.from('hosts:2026-01-02T03:04:05Z').toString('base64url'),
    Buffer.from(`hosts:2026-01-02T03:04:05Z/${uidOf(7)}/x`).toString('base64url'),
    Buffer.from(`hosts:__proto__/${uidOf(7)}`).toString('base64url'),
    Buffer.from(`${key.at}/${key.id}`).toString('base64url'),
    createTimeCursor('runs').encode(key),
    createTextCursor('hosts').encode('a'),
  ])('%j is refused', (text) => {
    expect(() => timeCursor.decode(text)).toThrow('query.cursor is not a cursor of this list');
  });

  it('AMB-097 of another list by name is refused', () => {
    const cursor = createTextCursor('tools').encode('a');
    expect(createTextCursor('tools').decode(cursor)).toBe('a');
    expect(() => createTextCursor('sessions').decode(cursor)).toThrow('query.cursor is not a cursor of this list');
  });
});
