import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import { limits } from '../../crds/limits.ts';
import { ownMember } from '../own-member.ts';
import { listOf, mapOf, asText } from './json-parts.ts';

/** The address of a server, without a slash at its end, or why it cannot be used. */
export type ServerUrl = { readonly url: string } | { readonly problem: Problem };

/** The first of the servers that `holder` (document, path item or operation) lists; undefined where it lists none. */
export function firstServer(holder: Readonly<Record<string, unknown>>, at: Place): ServerUrl | undefined {
  const server = mapOf(listOf(holder['servers'])?.[0]);
  if (server === undefined) return undefined;
  const place = [...at, 'servers', 0, 'url'];
  const template = asText(server['url']);
  if (template === undefined) return { problem: errorAt(place, 'server', 'must be a text') };
  const filled = fill(template, mapOf(server['variables']));
  if (filled === undefined) {
    return { problem: errorAt(place, 'server', 'names a variable that has no default; set spec.server_url') };
  }
  return checkServer(filled, place);
}

/** Whether calls can be sent there: http or https, without user information, query and fragment. */
export function checkServer(text: string, at: Place): ServerUrl {
  const message = faultOf(text);
  return message === undefined ? { url: text.replace(/\/$/, '') } : { problem: errorAt(at, 'server', message) };
}

function faultOf(text: string): string | undefined {
  if (text.length > limits.apiUrlLength) return `must have at most ${limits.apiUrlLength} characters`;
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) return 'is relative, so that no host is known; set spec.server_url';
  return URL.canParse(text) ? partFault(new URL(text)) : 'is no URL';
}

const schemes: ReadonlySet<string> = new Set(['http:', 'https:']);

function partFault({ protocol, username, password, href, hostname }: URL): string | undefined {
  if (!schemes.has(protocol)) return 'must begin with http:// or https://';
  if (username !== '' || password !== '') return 'must hold no user or password; spec.credentials is for those';
  if (/[?#]/.test(href)) return 'must hold no query and no fragment';
  return hostname === '' ? 'names no host' : undefined;
}

/** The template with the defaults of its variables; undefined where one has none. */
function fill(template: string, variables: Readonly<Record<string, unknown>> | undefined): string | undefined {
  let isWhole = true;
  const text = template.slice(0, limits.apiUrlLength + 1).replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = asText(mapOf(ownMember(variables, name))?.['default']);
    isWhole &&= value !== undefined;
    return value ?? '';
  });
  return isWhole ? text : undefined;
}
