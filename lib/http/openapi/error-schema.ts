import { Type } from 'typebox';

/** The body of every answer that is no success (requirements AMB-023). */
export const errorSchema = Type.Object(
  {
    error: Type.String({ description: 'Kind of the error, in a word or text that never changes.' }),
    code: Type.String({
      pattern: '^[a-z0-9]+(_[a-z0-9]+)*$',
      description: 'The same as one word of small letters, digits and underscores, for programs.',
    }),
    message: Type.String({ description: 'The same as a sentence for people; it may change.' }),
    details: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: 'Where, such as `body.seats`.' }),
          message: Type.String({ description: 'The mistake there.' }),
        }),
      ),
    ),
  },
  { description: 'Why a request was refused, or could not be answered.' },
);

/** The body of a refused tool call (spec 3 §7.2). */
export const rpcErrorSchema = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(
      Type.Union([Type.String(), Type.Number()], { description: 'That of the request, where one could be read.' }),
    ),
    error: Type.Object({
      code: Type.Integer({ description: 'Code of the error.' }),
      message: Type.String({ description: 'The same as a sentence.' }),
      data: Type.Unknown({ description: 'More about it, mostly null.' }),
    }),
  },
  { description: 'Why a tool call was refused, or could not be answered.' },
);
