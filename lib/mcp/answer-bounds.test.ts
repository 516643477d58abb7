import { isJsonContentType } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { answerBoundsFor, answerFormOf } from './answer-bounds.ts';
import { mcpLimits } from './limits.ts';

const { values, shallowValues, eventLines } = mcpLimits;
const problemOf = (contentType: string, text: string, status = 200): string => {
  const lookAt = answerBoundsFor(answerFormOf(status, contentType));
  try {
    // Byte by byte, as the network may deliver it.
    for (const byte of Buffer.from(text)) lookAt(Uint8Array.of(byte));
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
const json = (text: string): string => problemOf('application/json', text);
const stream = (text: string): string => problemOf('text/event-stream; charset=utf-8', text);
/** Has so many values, all but five of them below the top. */
const deep = (count: number): string => `{"result":{"a":{"b":[[${'0,'.repeat(count - 5)}0]]}}}`;
/** Has so many values, all in the result. */
const shallow = (count: number): string => `{"result":{${'"a":0,'.repeat(count - 2)}"a":0}}`;
const tooMany = `the server answers with more than ${values} values`;
const tooManyNearTop = `the server answers with more than ${shallowValues} values near its top`;
const tooManyLines = `the server answers with more than ${eventLines} lines of events`;

describe('bounds of an answer', () => {
  it.each([
    [deep(values - 1), ''],
    [deep(values), ''],
    [deep(values + 1), tooMany],
    [shallow(shallowValues), ''],
    [shallow(shallowValues + 1), tooManyNearTop],
  ])('count values of JSON, and of an event: case %#', (text, want) => {
    expect(json(text)).toBe(want);
    expect(stream(`data: ${text}\n\n`)).toBe(want);
  });

  it('count no sign inside a text, whatever is escaped in it', () => {
    expect(json(`{"a":"${'[{,\\\\\\"'.repeat(values)}"}`)).toBe('');
    expect(json(`{"a":"\\\\","b":{"c":{"d":[${'0,'.repeat(values)}0]}}}`)).toBe(tooMany);
  });

  it.each(['[{}]', ' [', '\uFEFF[1]'])('take no batch: %j', (text) => {
    expect(json(text)).toBe('the answer is a batch');
    expect(stream(`data: ${text}\n\n`)).toBe('');
  });

  it.each(['\n', '\r', '\r\n'])('count lines of a stream that end with %j', (end) => {
    expect(stream(`:${end}`.repeat(eventLines))).toBe('');
    expect(stream(`:${end}`.repeat(eventLines + 1))).toBe(tooManyLines);
  });

  it.each(['\n', '\r', '\r\n'])('let no line hide the next one, by a quote or by brackets, before %j', (end) => {
    for (const start of [': "', `: ${'['.repeat(8)}`, 'event: "\\']) {
      expect(stream(`${start}${end}data: ${deep(values + 1)}${end}${end}`)).toBe(tooMany);
      expect(stream(`${start}${end}data: ${shallow(shallowValues + 1)}${end}${end}`)).toMatch(/near its top/);
    }
  });

  it.each(['\n', '\r', '\r\n'])('count values near the top of each message, which an empty line ends: %j', (end) => {
    const message = shallow(shallowValues - 1);
    expect(stream(`data: ${message}${end}${end}`.repeat(5))).toBe('');
    expect(stream(`data: ${message}${end}`.repeat(2))).toBe(tooManyNearTop);
  });

  const asStream = { isStream: true, contentType: 'text/event-stream' };
  const asJson = { isStream: false, contentType: 'application/json' };
  const asNone = { isStream: false, contentType: undefined };

  it.each([
    ['text/event-stream', asStream],
    [' Text/Event-Stream ; charset=utf-8', asStream],
    ['text/event-stream;', asStream],
    ['application/json', asJson],
    ['APPLICATION/JSON;charset=', asJson],
    ['application/json; x="text/event-stream"', asJson],
    ['application/json;text/event-stream', asJson],
    ['text/event-stream; x="application/json"', asStream],
    ['text/event-stream, application/json', asNone],
    ['application/json, text/event-stream', asNone],
    ['text/event-streams', asNone],
    ['application/problem+json', asNone],
    ['text/html', asNone],
    ['', asNone],
    [null, asNone],
  ])('are those of the essence of the Content-Type, which the library gets alone: %j', (contentType, want) => {
    expect(answerFormOf(200, contentType)).toEqual(want);
    expect(isJsonContentType(answerFormOf(200, contentType).contentType)).toBe(want === asJson);
  });

  it.each([199, 300, 400, 500])('are those of JSON for an error, which is no stream: %i', (status) => {
    expect(problemOf('text/event-stream', '[{}]', status)).toBe('the answer is a batch');
    expect(problemOf('text/plain', shallow(shallowValues + 1), status)).toBe(tooManyNearTop);
  });
});
