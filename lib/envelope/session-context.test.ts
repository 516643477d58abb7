import { describe, expect, it } from 'vitest';
import { contextReads } from '../../test/support/session-contexts.ts';
import { requireSessionContext } from './session-context.ts';

const named = (...names: string[]) => new Map(names.map((name) => [name, {}] as const));
const places = ['tenant-acme', 'windlass-global'];
const kube = contextReads({
  'tenant-acme': named('desk'),
  'windlass-global': named('shared'),
  'tenant-rival': named('rivals'),
});
const tried = (name: string, reads = kube): Promise<unknown> =>
  requireSessionContext(reads, name, places).then(
    () => 'fine',
    (error: unknown) => (error as Error).message,
  );

describe('requireSessionContext', () => {
  it.each(['desk', 'shared', 'default'])('takes %s', async (name) => expect(await tried(name)).toBe('fine'));

  it.each([
    ['dsek', 'did you mean desk?'],
    ['Shared', 'did you mean shared?'],
    ['other', 'GET /v1/security-contexts of the tool gateway lists them'],
    ['rival', 'GET /v1/security-contexts of the tool gateway lists them'],
  ])('refuses %s, and names none of another tenant', async (name, advice) => {
    const message = await tried(name);
    expect(message).toBe(
      `body.security_context names no security context of the tenant, and no shared one: ${name}; ${advice}`,
    );
  });

  it('asks the server for no text that is no name', async () => {
    let reads = 0;
    const counted = { ...kube, get: async () => Promise.reject(new Error(`read ${(reads += 1)}`)) };
    expect(await tried('../secrets/x', counted)).toContain('names no security context');
    expect(reads).toBe(0);
  });

  it('compares two hundred names at most', async () => {
    const many = Array.from({ length: 200 }, (_, index) => `other-${index}`);
    const behind = contextReads({ 'tenant-acme': named(...many, 'desk') });
    expect(await tried('dsek', behind)).not.toContain('did you mean');
    const within = contextReads({ 'tenant-acme': named(...many.slice(1), 'desk') });
    expect(await tried('dsek', within)).toContain('did you mean desk?');
  });
});
