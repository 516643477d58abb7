import { ApiCredentials } from '../../crds/schema/api-spec.ts';
import { createOpenApiDocument } from '../../lib/http/openapi/document.ts';
import { type JsonObject, variantSchemas } from '../../lib/http/openapi/schema-writer.ts';
import { Type } from 'typebox';
import manifest from '../../package.json' with { type: 'json' };
import { contracts } from '../routes/contracts.ts';

const description = `The tool gateway of Windlass: operators register tools and sessions, agents call tools by signed
envelopes.

Management operations need the bearer token of an operator. Each refusal is a JSON object with \`error\`,
\`code\` and \`message\`. The operations of the invocation lane answer with JSON-RPC objects.`;

const tags = [
  { name: 'Tools', description: 'Call tools, and list them.' },
  { name: 'Sessions', description: 'Keys that may sign calls, and for how long.' },
  { name: 'Security contexts', description: 'Tools, paths, hosts and commands that sessions may use.' },
  { name: 'Audit', description: 'Records of acts, and the proof that none is missing.' },
  { name: 'Service', description: 'The service itself.' },
];

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token whose role claim is `svc:operator` or `svc:admin`.',
  },
  sealToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The SEAL token of a session.',
  },
  sealSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'Seal-Signature',
    description: "Base64 of the Ed25519 signature by the session's key, beside the SEAL token of the session.",
  },
};

/** The OpenAPI document of the public listener. */
export function openApiDocument(): JsonObject {
  const license = { name: 'Apache License 2.0', identifier: manifest.license };
  return createOpenApiDocument(contracts, {
    title: 'Windlass tool gateway',
    version: manifest.version,
    description,
    license,
    tags,
    securitySchemes,
    schemas: variantSchemas(ApiCredentials, 'ApiCredentials'),
    callerHeaders: Type.Object({}),
  });
}
