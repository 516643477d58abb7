import { Type } from 'typebox';

/** The body of every answer that is no success (requirements AMB-023). */
export const errorSchema = Type.Object(
  {
    error: Type.String({ description: 'What went wrong, in a word or text that never changes.' }),
    message: Type.Optional(Type.String({ description: 'What to do about it, for people.' })),
    details: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: 'Where, such as `body.seats`.' }),
          message: Type.String({ description: 'What is wrong there.' }),
        }),
      ),
    ),
  },
  { description: 'Why a request was refused, or could not be answered.' },
);
