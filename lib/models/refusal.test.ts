import { describe, expect, it } from 'vitest';
import { Secret } from '../node-config/index.ts';
import { refusedAttempt, retryAfter } from './refusal.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

describe('retryAfter', () => {
  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '59' }, 59_000],
    [{ 'retry-after': '60' }, 60_000],
    [{ 'retry-after': '61' }, 60_000],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }, 9_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-1' }, undefined],
    [{}, undefined],
  ])('reads %j as %s', (headers, wanted) => {
    expect(retryAfter(new Headers(headers as Record<string, string>), now)).toBe(wanted);
  });
});

describe('refusalOf', () => {
  const message = (body: string): string =>
    refusedAttempt({ status: 400, body, headers: new Headers() }, now, new Secret('sk-hunter2')).message;

  it('shows the words of the provider in one line of bounded length', () => {
    expect(message(JSON.stringify({ error: { message: `a\n\tb ${'x'.repeat(500)}` } }))).toBe(
      `refused the request with 400: a b ${'x'.repeat(296)}`,
    );
    expect(message(JSON.stringify({ message: 'plain' }))).toBe('refused the request with 400: plain');
  });

  it.each(['<html>sk-hunter2</html>', '', '7', '{"error": 7}', '{"error": {"message": {}}}'])(
    'shows nothing of the body %j',
    (body) => {
      expect(message(body)).toBe('refused the request with 400');
    },
  );
});
