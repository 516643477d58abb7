import { expressionLimits } from '../../../lib/expression/limits.ts';
import { schemaLimits } from '../../../lib/json-schema/limits.ts';
import { templateLimits } from '../../../lib/template/limits.ts';
import { prices, workLimits } from '../../../lib/work/limits.ts';
import { characters, type LimitGroup, row } from './row.ts';

export const templates: LimitGroup = {
  title: 'Templates, expressions and schemas',
  rows: [
    row('A template', templateLimits.tokens, 'tokens', 'the template has more than … tokens; split it'),
    row('Blocks in each other', templateLimits.blockDepth, 'levels', 'more than … nested blocks or else branches'),
    row('Parentheses in each other', templateLimits.callDepth, 'levels', 'more than … nested parentheses'),
    row(
      'A rendered text',
      templateLimits.renderedLength,
      'characters',
      'the rendered text is longer than … characters',
    ),
    row(
      'Work of one state, as text that it stores',
      Math.floor(workLimits.turn / prices.storedByte),
      'bytes',
      'takes too much work for one turn of the controllers',
    ),
    row(
      'Work of checking one definition, as tokens of all its templates',
      Math.floor(workLimits.registration / prices.token),
      'tokens',
      'takes too much work for one turn of the controllers',
    ),
    row('Levels of a value that is read, printed or written', 'jsonDepth', 'levels', 'is nested deeper than … levels'),
    characters('`expression`', expressionLimits.length),
    row(
      'Parentheses and negations of an `expression` in each other',
      expressionLimits.depth,
      'levels',
      'more than … nested parentheses and negations',
    ),
    row(
      'Schemas within `input_schema` or `output_schema`',
      schemaLimits.subschemas,
      'schemas',
      'the schema has more than … schemas within it',
    ),
    row('Values of a schema', schemaLimits.size, 'values', 'a schema has at most … values'),
    row('Levels of a schema', schemaLimits.depth, 'levels', 'nested at most … levels'),
    row(
      'Different patterns of a schema',
      schemaLimits.patterns,
      'patterns',
      'the schema has more than … different patterns',
    ),
    row('Entries of an `enum` or `required`', schemaLimits.listEntries, 'entries', 'a list of at most …'),
  ],
};
