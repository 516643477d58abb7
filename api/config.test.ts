import { describe, expect, it } from 'vitest';
import { ConfigError, parseConfig } from '../lib/config.ts';
import { ApiConfig } from './config.ts';

const least = { WINDLASS_OIDC_ISSUER: 'https://id.example.com' };

describe('the configuration of the API', () => {
  it('GEN-02 listens on 8080, and on 8081 for the cluster, and needs an issuer alone', () => {
    expect(parseConfig(ApiConfig, least)).toMatchObject({
      WINDLASS_HTTP_PORT: 8080,
      WINDLASS_INTERNAL_PORT: 8081,
      WINDLASS_DRAIN_SECONDS: 3,
    });
    expect(() => parseConfig(ApiConfig, {})).toThrow(ConfigError);
  });

  it('AMB-057 limits no tenant by default', () => {
    expect(parseConfig(ApiConfig, least).WINDLASS_RATE_LIMIT_PER_SECOND).toBe(0);
  });

  it.each([
    ['WINDLASS_HTTP_PORT', ['-1', '65536', 'http', '80.5'], ['0', '65535']],
    ['WINDLASS_DRAIN_SECONDS', ['-1', '16'], ['0', '15']],
    ['WINDLASS_RATE_LIMIT_PER_SECOND', ['-1', '1000001'], ['0', '1000000']],
    ['WINDLASS_SYSTEM_TENANT', ['Acme', '-a', 'a'.repeat(57)], ['a', 'a-1', 'a'.repeat(56)]],
    ['WINDLASS_STDIN_TENANT', ['a b', 'a-'], ['acme']],
    ['WINDLASS_LOG_LEVEL', ['loud'], ['debug', 'silent']],
  ])('%s is checked at its bounds', (name, bad, good) => {
    for (const value of bad) expect(() => parseConfig(ApiConfig, { ...least, [name]: value })).toThrow(name);
    for (const value of good) expect(() => parseConfig(ApiConfig, { ...least, [name]: value })).not.toThrow();
  });
});
