import { describe, expect, it } from 'vitest';
import { withoutCredentials } from './keep-headers.ts';

describe('withoutCredentials', () => {
  it('STIM-05 keeps headers under lower-case names', () => {
    expect(withoutCredentials({ 'X-GitHub-Event': 'push', host: 'example.com' })).toEqual({
      'x-github-event': 'push',
      host: 'example.com',
    });
  });

  it.each([
    'Authorization',
    'proxy-authorization',
    'Cookie',
    'set-cookie',
    'X-Svc-Signature',
    'x-hub-signature-256',
    'X-Gitlab-Token',
    'x-api-key',
    'apikey',
    'X-Webhook-Secret',
    'x-amz-security-token',
    'X-Shopify-Hmac-Sha256',
    'X-Goog-IAP-JWT-Assertion',
    'PayPal-Transmission-Sig',
    'X-Auth-Key',
    'X-Access-Key',
    'X-Api_Key',
    'Ocp-Apim-Subscription-Key',
    'X-Forwarded-Client-Cert',
    'X-Otp',
    'x-totp',
    'X-2FA',
    'X-GitHub-OTP',
    'X-Mfa-Code',
    'X-Pin',
    'X-Passcode',
    'X-Session-Id',
    'X-SessionId',
    'X-CSRFToken',
    'DPoP',
    'X-Nonce',
  ])('AMB-145 drops %s', (name) => {
    expect(withoutCredentials({ [name]: 'secret', accept: '*/*' })).toEqual({ accept: '*/*' });
  });

  it.each([
    'X-Event-Key',
    'Idempotency-Key',
    'X-Author',
    'X-Keyword',
    'X-Signal',
    'X-Certainty',
    'X-Stop',
    'X-Opinion',
    'X-Compass',
  ])('STIM-05 keeps %s, which proves nothing', (name) => {
    expect(withoutCredentials({ [name]: 'x' })).toEqual({ [name.toLowerCase()]: 'x' });
  });

  it.each([
    'Bearer abc',
    'Basic YTpi',
    `eyJhbGciOiJub25lIn0.${'e'.repeat(20)}.`,
    `ghp_${'a'.repeat(36)}`,
    `glpat-${'a'.repeat(20)}`,
    `for ci: sk-${'a'.repeat(20)}`,
  ])('AMB-145 drops a header of any name whose value is %s', (value) => {
    expect(withoutCredentials({ 'X-Custom': value, accept: '*/*' })).toEqual({ accept: '*/*' });
  });

  it.each(['refs/heads/main', '72d3162e-cc78-11e3-81ab-4c9367dc0958', 'basics', 'eyJ', 'sk-1'])(
    'STIM-05 keeps a header whose value is %s',
    (value) => {
      expect(withoutCredentials({ 'X-Custom': value })).toEqual({ 'x-custom': value });
    },
  );

  it('keeps a header called __proto__ as what it is', () => {
    const kept = withoutCredentials(JSON.parse('{"__proto__":"x"}') as Record<string, string>);
    expect(Object.keys(kept)).toEqual(['__proto__']);
  });
});
