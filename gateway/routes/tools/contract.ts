import { Type } from 'typebox';
import { type Contract, defineContract } from '../../../lib/http/contract.ts';
import { nextCursor, pageQuery, unknownCursor, wordsQuery } from '../../../lib/http/paging.ts';

const source = Type.Union([
  Type.Literal('workflow'),
  Type.Literal('cli'),
  Type.Literal('builtin'),
  Type.Literal('mcp'),
]);

const tool = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    input_schema: Type.Unknown({ description: 'JSON Schema of the arguments.' }),
    source,
    skip_judge: Type.Boolean(),
    fleet_capable: Type.Boolean(),
    not_ready: Type.Optional(
      Type.String({
        description: 'Why the controllers refuse the tool. Absent where they accept it, or have not judged it yet.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** requirements AMB-196. */
export const listTools = defineContract({
  operationId: 'listTools',
  method: 'get',
  path: '/v1/tools',
  tag: 'Tools',
  summary: 'List tools',
  description:
    'Tools that the tenant sees, of all sources. `cmd.run` and `fs.*` run in the container of an agent. The list has them for ' +
    'security contexts; a call of them at the gateway is refused with `NoContainer`.',
  access: 'bearer',
  query: Type.Object({
    ...pageQuery('Tools'),
    q: wordsQuery('tools'),
    source: Type.Optional(source),
    security_context: Type.Optional(
      Type.String({ minLength: 1, maxLength: 253, description: 'Only tools that this security context permits.' }),
    ),
  }),
  success: {
    kind: 'json',
    description: 'By name.',
    schema: Type.Object({ items: Type.Array(tool), next_cursor: nextCursor }, { additionalProperties: false }),
    example: {
      items: [
        {
          name: 'web.fetch',
          description: 'Fetch a page.',
          input_schema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
          source: 'builtin',
          skip_judge: true,
          fleet_capable: false,
        },
      ],
      next_cursor: null,
    },
  },
  errors: [unknownCursor, { status: 404, error: 'not_found', when: 'There is no such security context.' }],
});

export const contracts: readonly Contract[] = [listTools];
