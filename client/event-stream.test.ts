import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEventStreamParser, type RawEvent } from './event-stream.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string): RawEvent[] => createEventStreamParser().push(bytes(text));

describe('a text/event-stream', () => {
  const cases: Record<string, { readonly text: string; readonly want: RawEvent[] }> = {
    'an event with all fields': {
      text: 'id: 7\nevent: execution_started\ndata: {"a":1}\n\n',
      want: [{ id: '7', event: 'execution_started', data: '{"a":1}' }],
    },
    'an event without a name is a message': {
      text: 'data: x\n\n',
      want: [{ id: undefined, event: 'message', data: 'x' }],
    },
    'several data lines are lines of one text': {
      text: 'data: a\ndata:\ndata:b\n\n',
      want: [{ id: undefined, event: 'message', data: 'a\n\nb' }],
    },
    'comments are passed over, between fields as well': {
      text: ': keep-alive\n\ndata: a\n: more\n\n',
      want: [{ id: undefined, event: 'message', data: 'a' }],
    },
    'an id counts for the events after it': {
      text: 'id: 1\ndata: a\n\ndata: b\n\n',
      want: [
        { id: '1', event: 'message', data: 'a' },
        { id: '1', event: 'message', data: 'b' },
      ],
    },
    'the name of an event does not': {
      text: 'event: x\ndata: a\n\ndata: b\n\n',
      want: [
        { id: undefined, event: 'x', data: 'a' },
        { id: undefined, event: 'message', data: 'b' },
      ],
    },
    'an id with NUL, unknown fields and a retry that is no number are ignored': {
      text: 'id: a\0b\nretry: 1s\ncolour: red\ndata: a\n\n',
      want: [{ id: undefined, event: 'message', data: 'a' }],
    },
    'only one blank after the colon is left out': {
      text: 'data:  a \n\n',
      want: [{ id: undefined, event: 'message', data: ' a ' }],
    },
    'line ends of every kind': {
      text: 'data: a\r\n\r\ndata: b\r\rdata: c\n\n',
      want: ['a', 'b', 'c'].map((data) => ({ id: undefined, event: 'message', data })),
    },
    'a byte order mark': { text: '\ufeffdata: a\n\n', want: [{ id: undefined, event: 'message', data: 'a' }] },
    'an event that the end cuts off is dropped': { text: 'data: a\n', want: [] },
    'an event without data is none': { text: 'event: x\n\n', want: [] },
  };

  it.each(Object.entries(cases))('%s', (_, { text, want }) => {
    expect(read(text)).toEqual(want);
  });

  it('gives the same events however the connection cuts it', () => {
    const text = 'id: 1\r\nevent: grüße\rdata: {"k":"🌊 é"}\n\n: keep-alive\n\nid: 2\r\ndata: a\r\ndata: b\r\n\r\n';
    const whole = bytes(text);
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length), { maxLength: 12 }), (cuts) => {
        const parser = createEventStreamParser();
        const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
        const events = places.slice(1).flatMap((end, index) => parser.push(whole.subarray(places[index], end)));
        expect(events).toEqual(read(text));
      }),
    );
  });

  it('says where to continue and when', () => {
    const parser = createEventStreamParser('41');
    expect(parser.lastEventId).toBe('41');
    parser.push(bytes('retry: 2500\nid: 42\ndata: a\n\n'));
    expect(parser).toMatchObject({ lastEventId: '42', retryMs: 2500 });
  });

  it('reads a line of many megabytes in time that grows with its length, not with its square', () => {
    const parser = createEventStreamParser();
    const piece = bytes('x'.repeat(65_536));
    const started = performance.now();
    parser.push(bytes('data: '));
    for (let count = 0; count < 512; count++) parser.push(piece);
    const [event] = parser.push(bytes('\n\n'));
    expect(event?.data.length).toBe(512 * 65_536);
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});
