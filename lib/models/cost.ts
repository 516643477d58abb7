import { ownMember } from '../own-member.ts';
import type { ModelPrice } from '../node-config/node-config.ts';
import type { ModelMessage, ModelRequest } from './models.ts';

/** USD of one answer; undefined where no price is known for the model. */
export function costOf(
  prices: Readonly<Record<string, ModelPrice>>,
  model: string,
  tokens: { readonly input: number; readonly output: number },
): number | undefined {
  const price = ownMember(prices, model);
  if (price === undefined) return undefined;
  return (tokens.input * price.input_per_million + tokens.output * price.output_per_million) / 1_000_000;
}

/** Characters of a token, on average of English text and code. */
const charactersPerToken = 4;

/** Tokens of an answer whose provider does not count, so that limits of tokens hold there as well. */
export const estimatedTokens = (characters: number): number => Math.ceil(characters / charactersPerToken);

/** Everything that a model read, as far as it is text of the conversation. */
export const textOfMessages = (messages: readonly ModelMessage[]): string =>
  messages
    .map((message) => {
      const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
      return message.content + calls.map((call) => call.name + call.arguments).join('');
    })
    .join('');

type Definitions = Pick<ModelRequest, 'tools' | 'outputSchema'>;

/** Characters of the definitions of tools and of the answer's schema, which a model reads with each question. */
export function lengthOfDefinitions({ tools, outputSchema }: Definitions): number {
  const texts = tools.map(({ name, description, input_schema }) => JSON.stringify({ name, description, input_schema }));
  return [...texts, outputSchema === undefined ? '' : JSON.stringify(outputSchema)].join('').length;
}
