import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import type { Json } from '../../crds/schema/parts.ts';
import { sourcePattern } from '../../crds/stimulus-source.ts';
import { executionFields, executionMetadata, executionName } from './execution-fields.ts';
import type { Stimulus } from './stimulus.ts';

const aStimulus = (content: Json): Stimulus => ({
  id: '5f1c3d1e-5c0f-4d3a-9a55-0c7f3a2f9d41',
  source: { kind: 'Webhook', name: 'my-ci' },
  content,
  headers: { 'x-event': 'push' },
  receivedAt: '2026-01-02T03:04:05.000Z',
});

describe('executionFields', () => {
  it.each<[title: string, content: Json, want: { input: object; intent?: string }]>([
    ['a JSON object as the input', { a: 1, b: { c: null } }, { input: { a: 1, b: { c: null } } }],
    ['an empty object as the input', {}, { input: {} }],
    ['an object with a key called content as it is', { content: 'x' }, { input: { content: 'x' } }],
    ['a list under content', [1], { input: { content: [1] } }],
    ['a number under content', 7, { input: { content: 7 } }],
    ['null under content', null, { input: { content: null } }],
    ['false under content', false, { input: { content: false } }],
    ['a text under content and as the intent', 'Fix it.', { input: { content: 'Fix it.' }, intent: 'Fix it.' }],
    ['an empty text under content alone', '', { input: { content: '' } }],
    ['blanks under content alone', ' \n', { input: { content: ' \n' } }],
  ])('AMB-145 takes %s', (_title, content, want) => {
    const { blackboard: _, ...fields } = executionFields(aStimulus(content));
    expect(fields).toEqual(want);
  });

  it.each([
    [limits.templateLength, true],
    [limits.templateLength + 1, false],
  ])('makes a text of %i characters an intent: %s', (length, isIntent) => {
    const content = 'x'.repeat(length);
    const { input, intent } = executionFields(aStimulus(content));
    expect(input).toEqual({ content });
    expect(intent === content).toBe(isIntent);
  });

  it('STIM-01 STIM-05 STIM-06 AMB-145 tells the Blackboard where it came from', () => {
    expect(executionFields(aStimulus({})).blackboard).toEqual({
      stimulus: {
        id: '5f1c3d1e-5c0f-4d3a-9a55-0c7f3a2f9d41',
        source: 'my-ci',
        received_at: '2026-01-02T03:04:05.000Z',
        headers: { 'x-event': 'push' },
      },
    });
  });
});

describe('executionMetadata', () => {
  it('labels the execution with its stimulus, and notes the reservation where there is one', () => {
    expect(executionMetadata(aStimulus(null), 'key')).toEqual({
      labels: {
        'windlass.dev/stimulus': '5f1c3d1e-5c0f-4d3a-9a55-0c7f3a2f9d41',
        'windlass.dev/stimulus-source': 'my-ci',
      },
      annotations: { 'windlass.dev/reservation': 'key' },
    });
    expect(executionMetadata(aStimulus(null)).annotations).toEqual({});
  });

  it.each(['a', 'http_api', 'Tickets.EU', `a${'.'.repeat(61)}b`])('a source such as %s is a legal label', (source) => {
    expect(source).toMatch(new RegExp(sourcePattern));
    expect(source).toMatch(/^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/);
    expect(source.length).toBeLessThanOrEqual(63);
  });

  it('names the execution after the stimulus alone', () => {
    expect(executionName('x')).toBe('stimulus-x');
  });
});
