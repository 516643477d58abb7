import { isJsonObject } from '../json-object.ts';

/**
 * The answer of a tool that puts nothing out, such as `host.info`, as one text with a line end: its `content`, or its
 * facts as JSON. '' where the payload has the output of a command, or nothing.
 */
export function answerText(payload: unknown): string {
  if (!isJsonObject(payload)) return '';
  const { stdout, stderr, content, exit_code: _, truncated: __, ...facts } = payload;
  if (typeof stdout === 'string' || typeof stderr === 'string') return '';
  if (content === undefined && Object.keys(facts).length === 0) return '';
  const text = typeof content === 'string' ? content : JSON.stringify(payload);
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
