import type { TSchema } from 'typebox';

/**
 * The text of a setting or parameter as the type of its schema: string, integer, number or boolean. Text that is not
 * of that type stays text, which the schema then refuses.
 */
export function typedText(text: string, schema: TSchema): unknown {
  const { type } = schema as { readonly type?: string };
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  const form = type === undefined ? undefined : numbers[type];
  return form?.test(text) ? Number(text) : text;
}

/** Fifteen digits are exact in a number of JavaScript, whichever they are. */
const numbers: Readonly<Record<string, RegExp>> = {
  integer: /^-?\d{1,15}$/,
  number: /^-?\d{1,15}(\.\d+)?$/,
};
