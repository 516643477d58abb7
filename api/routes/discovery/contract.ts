import { Type } from 'typebox';
import { defineContract } from '../../../lib/http/contract.ts';

const uri = (description: string) => Type.String({ format: 'uri', description });

/** RFC 9728, so that `windlass login` needs to know nothing but the address of the API. */
export const readProtectedResource = defineContract({
  operationId: 'readProtectedResource',
  method: 'get',
  path: '/.well-known/oauth-protected-resource',
  tag: 'Service',
  summary: 'Tell where tokens come from',
  description: 'The metadata of RFC 9728: which provider issues the tokens that this API accepts, and to whom.',
  access: 'public',
  success: {
    kind: 'json',
    description: 'The metadata.',
    schema: Type.Object(
      {
        resource: uri('The address under which the API was asked.'),
        authorization_servers: Type.Array(uri('The issuer.'), { minItems: 1, maxItems: 1 }),
        scopes_supported: Type.Array(Type.String(), { description: 'Scopes that a client requests.' }),
        bearer_methods_supported: Type.Array(Type.Literal('header'), { minItems: 1, maxItems: 1 }),
        windlass_client_id: Type.String({ description: 'The public client of the command line at the provider.' }),
      },
      { additionalProperties: false },
    ),
    example: {
      resource: 'https://windlass.example.com/',
      authorization_servers: ['https://id.example.com'],
      scopes_supported: ['openid', 'offline_access'],
      bearer_methods_supported: ['header'],
      windlass_client_id: 'windlass-cli',
    },
  },
  errors: [],
});
