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
