import { type Static, type TProperties, Type } from 'typebox';
import { limits } from '../limits.ts';
import { networkPattern } from '../network.ts';
import { apiSpecRules } from '../rules/tool-rules.ts';
import { registeredNamePattern } from '../tool-name.ts';
import { Conditions } from './condition.ts';
import type { KubernetesObject } from './object.ts';
import { cel, oneOf } from './parts.ts';

const secretOf = (keys: string) =>
  Type.Object(
    {
      name: Type.String({
        minLength: 1,
        maxLength: limits.objectNameLength,
        description: 'A Secret of this namespace with the label windlass.dev/credential=true.',
      }),
    },
    { additionalProperties: false, description: `The Secret of the credential. Its keys by kind: ${keys}.` },
  );
const secret = secretOf(
  'static_header value; basic username, password; bearer token; api_key_header and api_key_query key; oauth2_client_credentials client_id, client_secret',
);

const headerName = (description: string) =>
  Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$", maxLength: 128, description });

/** Credentials of one kind; the values themselves stay in a Secret. */
const credential = <const K extends string, P extends TProperties>(kind: K, description: string, fields: P) =>
  Type.Object({ kind: oneOf([kind]), ...fields }, { additionalProperties: false, description });

/** How calls to the upstream are authenticated (spec 3 §2.4: credentials come from the API spec's resolution path). */
export const ApiCredentials = Type.Union(
  [
    credential('none', 'No credentials.', {}),
    credential('static_header', 'A fixed header.', { secret, header: headerName('Header that carries the value.') }),
    credential('basic', 'User name and password.', { secret }),
    credential('bearer', 'A fixed bearer token.', { secret }),
    credential('api_key_header', 'A key in a header.', { secret, header: headerName('Header that carries the key.') }),
    credential('api_key_query', 'A key in the query.', {
      secret,
      param: Type.String({
        pattern: '^[A-Za-z0-9_.~-]{1,128}$',
        maxLength: 128,
        description: 'Query parameter that carries the key.',
      }),
    }),
    credential('oauth2_client_credentials', 'A token of an OAuth 2.0 server, for a client.', {
      secret,
      token_url: Type.String({
        pattern: '^https?://[^/?#@\\s]+(/[^\\s#]*)?$',
        maxLength: limits.apiUrlLength,
        description: 'Where tokens are issued.',
      }),
      scopes: Type.Optional(
        Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,256}$', maxLength: 256 }), {
          maxItems: 50,
          description: 'Scopes that are asked for.',
        }),
      ),
      audience: Type.Optional(
        Type.String({ minLength: 1, maxLength: limits.apiUrlLength, description: 'Audience that is asked for.' }),
      ),
    }),
  ],
  { discriminator: { propertyName: 'kind' }, description: 'How calls to the upstream are authenticated.' },
);
export type ApiCredentials = Static<typeof ApiCredentials>;

const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', maxLength: 64, description: 'SHA-256 of the document, hex.' });

/** A document that is too large for the object itself; the gateway writes it, and the bytes are checked when read. */
const DocumentParts = Type.Object(
  {
    sha256,
    bytes: Type.Integer({
      minimum: 1,
      maximum: limits.apiDocumentBytes,
      description: 'Bytes of the document.',
    }),
    stored_bytes: Type.Integer({
      minimum: 1,
      maximum: limits.apiDocumentBytes,
      description: 'Bytes of all parts, compressed.',
    }),
    config_maps: Type.Array(
      Type.String({ minLength: 1, maxLength: limits.objectNameLength, description: 'Name of a ConfigMap.' }),
      {
        minItems: 1,
        maxItems: limits.apiDocumentParts,
        description:
          'ConfigMaps of this namespace; key `part` of their binaryData, joined, is the gzip of the document.',
      },
    ),
  },
  { additionalProperties: false, description: 'Where a document over 512 KiB is.' },
);
export type DocumentParts = Static<typeof DocumentParts>;

/** The name by which agents, operators and other objects know something that was registered. */
export const registeredName = (description: string) =>
  Type.String({ pattern: registeredNamePattern, maxLength: limits.toolNameLength, description });

/** A registered HTTP API: its OpenAPI document, and how to reach it (spec 3 §1.1, requirements AMB-196). */
export const ApiSpecSpec = Type.Object(
  {
    name: Type.Optional(registeredName('Name of the API. Default: the name of the object.')),
    description: Type.Optional(
      Type.String({ maxLength: limits.toolDescriptionLength, description: 'The API, in words.' }),
    ),
    server_url: Type.Optional(
      Type.String({
        pattern: '^https?://[^/?#@\\s]+(/[^?#\\s]*)?$',
        maxLength: limits.apiUrlLength,
        description: 'Base URL of all operations. Default: the first server of the document.',
      }),
    ),
    document: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.apiDocumentInlineBytes,
        description: 'The OpenAPI 3.0 or 3.1 document, JSON or YAML, up to 512 KiB.',
      }),
    ),
    document_parts: Type.Optional(DocumentParts),
    credentials: Type.Optional(ApiCredentials),
    allow_internal_addresses: Type.Optional(
      Type.Array(
        Type.String({
          pattern: networkPattern,
          maxLength: 49,
          description: 'Network in CIDR form, as 10.20.0.0/16.',
        }),
        {
          maxItems: 16,
          description: 'Internal networks in which the upstream may be. Administrators of the cluster set it.',
        },
      ),
    ),
  },
  { additionalProperties: false, ...cel(...apiSpecRules) },
);
export type ApiSpecSpec = Static<typeof ApiSpecSpec>;

export const ApiSpecStatus = Type.Object(
  {
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Type.Optional(Conditions),
    title: Type.Optional(Type.String({ description: 'Title in the document.' })),
    openapi: Type.Optional(Type.String({ description: 'Version of OpenAPI.' })),
    server: Type.Optional(Type.String({ description: 'Base URL of operations that name no server of their own.' })),
    operations: Type.Optional(Type.Integer({ minimum: 0, description: 'Operations that have an operationId.' })),
    sha256: Type.Optional(sha256),
    warnings: Type.Optional(
      Type.Array(Type.String({ maxLength: limits.warningLength }), {
        maxItems: limits.warnings,
        description: 'Parts of the document that are legal and probably mistakes.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ApiSpecStatus = Static<typeof ApiSpecStatus>;

export type ApiSpec = KubernetesObject<'ApiSpec', ApiSpecSpec, ApiSpecStatus>;
