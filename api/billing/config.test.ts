import { describe, expect, it } from 'vitest';
import { ConfigError, parseConfig } from '../../lib/config.ts';
import { BillingConfig, type BillingOptions, billingOptions } from './config.ts';

const read = (env: Record<string, string>): BillingOptions | undefined =>
  billingOptions(parseConfig(BillingConfig, env));
const key = { PAYMENT_PROVIDER_SECRET_KEY: 'sk_test_1' };

describe('the configuration of billing', () => {
  it.each<[title: string, env: Record<string, string>]>([
    ['nothing is set', {}],
    ['the key is empty', { PAYMENT_PROVIDER_SECRET_KEY: '' }],
    ['the key is blank', { PAYMENT_PROVIDER_SECRET_KEY: ' \n' }],
    ['the key has another name', { SVC_PAYMENT_PROVIDER_SECRET_KEY: 'sk_test_1' }],
    ['there are addresses and no key', { PAYMENT_PROVIDER_SUCCESS_URL: 'nonsense' }],
  ])('BILL-16 BILL-17 is absent when %s', (_title, env) => {
    expect(read(env)).toBeUndefined();
  });

  it('BILL-17 needs the key alone', () => {
    expect(read(key)).toEqual({
      stripe: {
        secretKey: 'sk_test_1',
        installation: 'windlass',
        successUrl: 'http://localhost:8080/?checkout=success',
        cancelUrl: 'http://localhost:8080/?checkout=cancelled',
        returnUrl: 'http://localhost:8080/',
      },
      returnOrigins: [],
    });
  });

  it('takes a key from a file with the line feed that the file ends in', () => {
    expect(read({ PAYMENT_PROVIDER_SECRET_KEY: 'sk_test_1\n' })?.stripe.secretKey).toBe('sk_test_1');
  });

  it('takes addresses, origins and an installation', () => {
    const options = read({
      ...key,
      PAYMENT_PROVIDER_SUCCESS_URL: 'https://app.example.com/thanks?id={CHECKOUT_SESSION_ID}',
      PAYMENT_PROVIDER_CANCEL_URL: 'https://app.example.com/plans',
      PAYMENT_PROVIDER_RETURN_URL: 'https://app.example.com/settings',
      PAYMENT_PROVIDER_RETURN_ORIGINS: 'https://app.example.com, https://example.com,',
      PAYMENT_PROVIDER_INSTALLATION: 'staging',
      PAYMENT_PROVIDER_API_URL: 'http://127.0.0.1:12111',
    });
    expect(options?.stripe).toMatchObject({
      successUrl: 'https://app.example.com/thanks?id={CHECKOUT_SESSION_ID}',
      installation: 'staging',
      apiUrl: new URL('http://127.0.0.1:12111'),
    });
    expect(options?.returnOrigins).toEqual(['https://app.example.com', 'https://example.com']);
  });

  it.each<[name: string, value: string]>([
    ['PAYMENT_PROVIDER_SUCCESS_URL', 'app.example.com'],
    ['PAYMENT_PROVIDER_SUCCESS_URL', 'http://app.example.com/'],
    ['PAYMENT_PROVIDER_CANCEL_URL', 'javascript:alert(1)'],
    ['PAYMENT_PROVIDER_RETURN_URL', '/settings'],
    ['PAYMENT_PROVIDER_RETURN_ORIGINS', 'https://app.example.com/settings'],
    ['PAYMENT_PROVIDER_RETURN_ORIGINS', 'app.example.com'],
    ['PAYMENT_PROVIDER_INSTALLATION', "it's"],
    ['PAYMENT_PROVIDER_API_URL', 'http://payments.example.com'],
    ['PAYMENT_PROVIDER_API_URL', 'https://127.0.0.1:12111'],
    ['PAYMENT_PROVIDER_API_URL', 'http://127.0.0.1:12111/v1'],
    ['PAYMENT_PROVIDER_API_URL', '127.0.0.1:12111'],
  ])('refuses %s with the value %s, and does not show the value', (name, value) => {
    const failure = (() => {
      try {
        return read({ ...key, [name]: value });
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toBeInstanceOf(ConfigError);
    expect((failure as ConfigError).problems).toEqual([{ name, problem: expect.stringMatching(/^must /) }]);
    expect((failure as ConfigError).message).not.toContain('sk_test_1');
  });
});
