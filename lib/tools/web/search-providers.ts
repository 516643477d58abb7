import { isJsonObject } from '../../json-object.ts';

/** One request to a provider of searches. */
interface SearchRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

interface Query {
  readonly query: string;
  readonly count: number;
  readonly key: string;
  readonly endpoint: string | undefined;
}

interface SearchProvider {
  request(query: Query): SearchRequest;
  /** Results of an answer; fields that are no texts are empty. */
  results(answer: unknown): SearchResult[];
}

/** How each provider is asked, and how it answers. */
export const searchProviders: Readonly<Record<'brave' | 'tavily' | 'searxng', SearchProvider>> = {
  brave: {
    request: ({ query, count, key, endpoint = 'https://api.search.brave.com' }) => ({
      method: 'GET',
      url: addressOf(endpoint, '/res/v1/web/search', { q: query, count: String(count) }),
      headers: { accept: 'application/json', 'x-subscription-token': key },
    }),
    results: (answer) => listAt(answer, 'web', 'results').map((item) => resultOf(item, 'description')),
  },
  tavily: {
    request: ({ query, count, key, endpoint = 'https://api.tavily.com' }) => ({
      method: 'POST',
      url: addressOf(endpoint, '/search'),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: count }),
    }),
    results: (answer) => listAt(answer, 'results').map((item) => resultOf(item, 'content')),
  },
  searxng: {
    request: ({ query, key, endpoint = '' }) => ({
      method: 'GET',
      url: addressOf(endpoint, '/search', { q: query, format: 'json' }),
      headers: bearer(key),
    }),
    results: (answer) => listAt(answer, 'results').map((item) => resultOf(item, 'content')),
  },
};

const bearer = (key: string): Readonly<Record<string, string>> =>
  key === '' ? {} : { authorization: `Bearer ${key}` };

function addressOf(endpoint: string, path: string, query: Readonly<Record<string, string>> = {}): string {
  const url = new URL(endpoint);
  url.pathname = url.pathname.replace(/\/$/, '') + path;
  url.search = new URLSearchParams(query).toString();
  return url.toString();
}

function listAt(answer: unknown, ...path: readonly string[]): readonly unknown[] {
  let value = answer;
  for (const name of path) value = isJsonObject(value) ? value[name] : undefined;
  return Array.isArray(value) ? value : [];
}

function resultOf(item: unknown, snippet: string): SearchResult {
  const fields = isJsonObject(item) ? item : {};
  const text = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  return { title: text('title'), url: text('url'), snippet: text(snippet) };
}
