import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bucketKey, messageId, streamOf, eventSubject } from './subjects.ts';

const subject = (tenant: string, topic = 'stimulus'): string => eventSubject({ tenant, topic });

describe('the subject of an event', () => {
  it('ROUTE-18 names the tenant and the topic as they are', () => {
    expect(subject('acme')).toBe('windlass.events.acme.stimulus');
    expect(subject('acme-1', 'volume')).toBe('windlass.events.acme-1.volume');
  });

  it('of the audit is in a stream of its own', () => {
    expect([subject('acme', 'audit'), streamOf({ topic: 'audit' })]).toEqual(['windlass.audit.acme', 'WINDLASS_AUDIT']);
    expect(streamOf({ topic: 'stimulus' })).toBe('WINDLASS_EVENTS');
  });

  it('has as many tokens for any text, legal ones, and differs for different tenants', () => {
    const text = fc.string({ unit: 'binary', maxLength: 200 });
    fc.assert(
      fc.property(text, text, (one, two) => {
        expect(subject(one)).toMatch(/^windlass\.events\.[A-Za-z0-9_=-]+\.stimulus$/);
        expect(subject(one) === subject(two)).toBe(Buffer.from(one).equals(Buffer.from(two)));
      }),
    );
  });
});

describe('the key in a bucket', () => {
  it('is of one length for any text and differs for different texts', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\ud800', '\ud801', '\udc00', 'é', '\0'), maxLength: 20 });
    fc.assert(
      fc.property(text, text, (one, two) => {
        expect(bucketKey(one)).toMatch(/^u?[0-9a-f]{64}$/);
        expect(bucketKey(one) === bucketKey(two)).toBe(one === two);
      }),
    );
  });

  it('is the SHA-256 that everybody else computes', () => {
    expect(bucketKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('the id of a message', () => {
  it.each(['a', 'urn:uuid:1/2', 'x'.repeat(256)])('is the event’s own where a header can hold it', (id) => {
    expect(messageId(id)).toBe(id);
  });

  it.each(['', 'a b', 'a\nb', 'a\r\nNats-Msg-Id: c', 'ä', 'x'.repeat(257)])('is a hash otherwise', (id) => {
    expect(messageId(id)).toMatch(/^=[0-9a-f]{64}$/);
  });
});
