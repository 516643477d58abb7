import { errorAt, type Problem } from '../../crds/problem.ts';
import { JsonTextError, parseJsonDocument } from '../http/strict-json.ts';
import { readDocuments } from '../manifest/yaml-document.ts';
import { openApiLimits } from './limits.ts';

/** A text as the value that it writes, or the problems for which there is none. */
type ParsedText = { readonly value: unknown } | { readonly problems: readonly Problem[] };

/** Reads JSON where the text begins as an object does, else YAML 1.2: repeated keys and alias bombs are refused. */
export function parseText(text: string): ParsedText {
  const bytes = Buffer.byteLength(text);
  if (bytes > openApiLimits.bytes) {
    return refused('too_large', `has ${bytes} bytes; at most ${openApiLimits.bytes} are taken`);
  }
  return text.trimStart().startsWith('{') ? parseJson(text) : parseYaml(text);
}

function parseJson(text: string): ParsedText {
  try {
    return { value: parseJsonDocument(text) };
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return refused('json', `${error.path === '' ? 'the document' : error.path} ${error.message}`);
  }
}

function parseYaml(text: string): ParsedText {
  const { bytes, yamlTokens: tokens } = openApiLimits;
  const [document, ...more] = readDocuments(text, { bytes, tokens, anyNumber: true });
  if (document === undefined) return refused('documents', 'the text holds no document');
  if (more.length > 0) return refused('documents', `the text holds ${more.length + 1} YAML documents; send one`);
  if (document.problems.length === 0) return { value: document.value };
  const problems = document.problems.slice(0, openApiLimits.problems);
  return {
    problems: problems.map(({ at, rule, message, line, column }) =>
      errorAt(at, rule, `line ${line}, column ${column}: ${message}${hint(rule)}`),
    ),
  };
}

const hint = (rule: string): string => (rule === 'too_large' ? '; send the document as JSON' : '');

const refused = (rule: string, message: string): ParsedText => ({ problems: [errorAt([], rule, message)] });
