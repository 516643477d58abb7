import { describe, expect, it } from 'vitest';
import { ConfigError, parseConfig } from '../config.ts';
import { BusConfig, busOptions } from './bus-config.ts';

const read = (env: Record<string, string>) => busOptions(parseConfig(BusConfig, env));
const url = { WINDLASS_NATS_URL: 'nats://nats:4222' };

describe('the configuration of the bus', () => {
  it('is none without a URL, whatever else is set', () => {
    expect(read({})).toBeUndefined();
    expect(read({ WINDLASS_NATS_USER: 'windlass' })).toBeUndefined();
  });

  it('keeps events for a week and the audit for 90 days, a gibibyte each, by default', () => {
    const hour = 3_600_000;
    expect(read(url)).toEqual({
      servers: ['nats://nats:4222'],
      replicas: 1,
      events: { maxAgeMs: 168 * hour, maxBytes: 1_073_741_824 },
      audit: { maxAgeMs: 2_160 * hour, maxBytes: 1_073_741_824 },
      keysMax: 447_392,
      streamBytes: { conversations: 1_073_741_824, gateway_audit: 1_073_741_824, edge_results: 1_073_741_824 },
    });
    const env = {
      WINDLASS_EVENTS_MAX_AGE_HOURS: '1',
      WINDLASS_AUDIT_MAX_MB: '2',
      WINDLASS_NATS_REPLICAS: '3',
      WINDLASS_CONVERSATIONS_MAX_MB: '5',
      WINDLASS_EDGE_RESULTS_MAX_MB: '3',
    };
    expect(read({ ...url, ...env })).toMatchObject({
      replicas: 3,
      events: { maxAgeMs: hour },
      audit: { maxBytes: 2_097_152 },
      streamBytes: { conversations: 5_242_880, gateway_audit: 2_097_152, edge_results: 3_145_728 },
    });
  });

  it.each<[string, Record<string, string>, unknown]>([
    ['nothing about it', {}, undefined],
    ['a URL with tls', { WINDLASS_NATS_URL: 'tls://nats:4222' }, {}],
    ['one of several URLs with tls', { WINDLASS_NATS_URL: 'nats://a:1,tls://b:2' }, {}],
    ['an authority', { WINDLASS_NATS_CA_FILE: '/ca' }, { caFile: '/ca' }],
    [
      'a certificate',
      { WINDLASS_NATS_CERT_FILE: '/c', WINDLASS_NATS_KEY_FILE: '/k' },
      { certFile: '/c', keyFile: '/k' },
    ],
  ])('with %s asks for encryption so: %o', (_what, env, want) => {
    expect(read({ ...url, ...env })?.tls).toEqual(want);
  });

  it.each<[string, Record<string, string>, string]>([
    ['another protocol', { WINDLASS_NATS_URL: 'http://nats:4222' }, 'WINDLASS_NATS_URL'],
    ['a password in the URL', { WINDLASS_NATS_URL: 'nats://a:secret@nats:4222' }, 'WINDLASS_NATS_URL'],
    ['a path', { WINDLASS_NATS_URL: 'nats://nats:4222/x' }, 'WINDLASS_NATS_URL'],
    ['an empty member of a list', { WINDLASS_NATS_URL: 'nats://a:1,' }, 'WINDLASS_NATS_URL'],
    ['a user without a password', { ...url, WINDLASS_NATS_USER: 'a' }, 'WINDLASS_NATS_PASSWORD'],
    ['a password without a user', { ...url, WINDLASS_NATS_PASSWORD: 'a' }, 'WINDLASS_NATS_USER'],
    ['a certificate without a key', { ...url, WINDLASS_NATS_CERT_FILE: '/c' }, 'WINDLASS_NATS_KEY_FILE'],
    ['no replica', { ...url, WINDLASS_NATS_REPLICAS: '0' }, 'WINDLASS_NATS_REPLICAS'],
    ['six replicas', { ...url, WINDLASS_NATS_REPLICAS: '6' }, 'WINDLASS_NATS_REPLICAS'],
    ['no time to keep events', { ...url, WINDLASS_EVENTS_MAX_AGE_HOURS: '0' }, 'WINDLASS_EVENTS_MAX_AGE_HOURS'],
  ])('refuses %s and tells no value', (_what, env, name) => {
    const refused = (): unknown => read(env);
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(name);
    expect(refused).not.toThrow(/secret/);
  });
});
