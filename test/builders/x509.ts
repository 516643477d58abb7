import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A certificate and its key, PEM. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
}

/** A certificate that can sign others. */
export interface Authority extends Issued {
  issue(fields: CertificateFields): Issued;
}

export interface CertificateFields {
  readonly commonName?: string;
  readonly uris?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ips?: readonly string[];
  /** Default: client. */
  readonly purpose?: 'client' | 'server';
  /** Milliseconds since the epoch. Default: from an hour ago until tomorrow. */
  readonly notBefore?: number;
  readonly notAfter?: number;
}

/** Makes certificates as an authority could, also those that no tool would make, without a program of the machine. */
export function makeAuthority(name = 'authority'): Authority {
  const keys = newKeys();
  const issuer = distinguishedName(name);
  const make = (fields: CertificateFields, own: Keys, extensions: Buffer[]): Issued => {
    const cert = certificate({ issuer, subject: distinguishedName(fields.commonName), fields, own, extensions }, keys);
    return { cert: pem('CERTIFICATE', cert), key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  };
  return {
    ...make({ commonName: name }, keys, [basicConstraints(true)]),
    issue: (fields) => make(fields, newKeys(), [basicConstraints(false), purposeOf(fields), alternativeNames(fields)]),
  };
}

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const newKeys = (): Keys => generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** ITU-T X.690: tag, length, contents. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  const { length } = body;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), body]);
}

const sequence = (...contents: Buffer[]): Buffer => der(0x30, ...contents);
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const octets = (content: Buffer): Buffer => der(0x04, content);

const ids = {
  commonName: '550403',
  ecdsaWithSha256: '2a8648ce3d040302',
  basicConstraints: '551d13',
  extendedKeyUsage: '551d25',
  alternativeNames: '551d11',
  client: '2b06010505070302',
  server: '2b06010505070301',
};

function distinguishedName(commonName?: string): Buffer {
  if (commonName === undefined) return sequence();
  return sequence(der(0x31, sequence(objectId(ids.commonName), der(0x0c, Buffer.from(commonName)))));
}

const extension = (id: string, content: Buffer): Buffer => sequence(objectId(id), octets(content));

const basicConstraints = (isAuthority: boolean): Buffer =>
  extension(ids.basicConstraints, sequence(...(isAuthority ? [der(0x01, Buffer.from([255]))] : [])));

const purposeOf = ({ purpose = 'client' }: CertificateFields): Buffer =>
  extension(ids.extendedKeyUsage, sequence(objectId(ids[purpose])));

function alternativeNames({ uris = [], dnsNames = [], ips = [] }: CertificateFields): Buffer {
  return extension(
    ids.alternativeNames,
    sequence(
      ...dnsNames.map((name) => der(0x82, Buffer.from(name))),
      ...uris.map((uri) => der(0x86, Buffer.from(uri))),
      ...ips.map((ip) => der(0x87, Buffer.from(ip.split('.').map(Number)))),
    ),
  );
}

interface Parts {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly fields: CertificateFields;
  readonly own: Keys;
  readonly extensions: readonly Buffer[];
}

/** RFC 5280. */
function certificate({ issuer, subject, fields, own, extensions }: Parts, signer: Keys): Buffer {
  const { notBefore = Date.now() - 3_600_000, notAfter = Date.now() + 86_400_000 } = fields;
  const algorithm = sequence(objectId(ids.ecdsaWithSha256));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    issuer,
    sequence(generalizedTime(notBefore), generalizedTime(notAfter)),
    subject,
    own.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  return sequence(content, algorithm, der(0x03, Buffer.from([0]), sign('sha256', content, signer.privateKey)));
}

function generalizedTime(ms: number): Buffer {
  const text = new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return der(0x18, Buffer.from(text));
}

function pem(label: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
