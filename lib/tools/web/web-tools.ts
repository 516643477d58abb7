import type { Clock } from '../../clock.ts';
import { startDeadline } from '../../deadline.ts';
import { AppError } from '../../errors.ts';
import { answer, failure } from '../answers.ts';
import { domainProblem } from '../domain-policy.ts';
import type { ToolAnswer, ToolArguments, ToolCaller } from '../tool.ts';
import type { ToolRuns } from '../toolbox.ts';
import { type AnswerRoom, createLargeAnswers, memoryOf } from './answer-room.ts';
import { countedBytes } from './counted-bytes.ts';
import { type AddressPolicy, createAddressPolicy } from './address-policy.ts';
import { fetchPage, type FetchedPage, type PageDeps } from './fetch-page.ts';
import type { ToMarkdown } from './markdown.ts';
import { bodyBytes } from './read-response.ts';
import { type SearchResult, searchProviders } from './search-providers.ts';
import { createVettedAgent, type Resolve } from './vetted-agent.ts';

/** The node configuration of `web.*`; an entry of `builtin_dispatchers` fits. */
export interface SearchSettings {
  readonly provider?: keyof typeof searchProviders;
  readonly endpoint?: string;
  readonly api_key?: { reveal(): string };
}

interface WebToolsDeps {
  readonly clock: Clock;
  readonly resolve: Resolve;
  readonly toMarkdown: ToMarkdown;
  /** The entry `web.search`; absent: searching is not configured. */
  readonly search?: SearchSettings;
  /** Networks that are internal and may be asked all the same, such as `10.1.0.0/16`. */
  readonly permittedNetworks?: readonly string[];
  /** Networks of which those within them alone are permitted (ADR 0110). */
  readonly guardedNetworks?: readonly string[];
  /** Room for large pages, which a process shares with whatever else reads large answers. Default: one of their own. */
  readonly room?: AnswerRoom;
}

/** `web.fetch` and `web.search` (spec 3 §10.4). */
export function createWebTools(given: WebToolsDeps): ToolRuns {
  const deps = { ...given, room: given.room ?? createLargeAnswers(given.clock) };
  const isPermitted = createAddressPolicy(deps.permittedNetworks, deps.guardedNetworks);
  const page = pageDeps(deps, isPermitted);
  // An operator's own address of a provider may be an internal one.
  const provider = pageDeps(deps, () => true);
  return {
    'web.fetch': {
      kind: 'api',
      run: (...call) => explained(fetchTool(deps, page, ...call)),
      problem: (caller, { url }) => domainProblem(caller, url),
    },
    'web.search': {
      kind: 'api',
      run: (...call) => explained(searchTool(deps, provider, ...call)),
      problem: (caller) => {
        const settings = configured(deps);
        return settings && domainProblem(caller, requestOf(settings, { query: '', count: 1 }).url);
      },
    },
  };
}

const pageDeps = ({ resolve }: WebToolsDeps, isPermitted: AddressPolicy): PageDeps => ({
  isPermitted,
  agent: createVettedAgent({ isPermitted, resolve }),
});

type Call = readonly [caller: ToolCaller, args: ToolArguments, signal: AbortSignal];

interface RunDeps extends WebToolsDeps {
  readonly room: AnswerRoom;
}

const roomFor = ({ room }: RunDeps, { tenant }: ToolCaller, signal: AbortSignal) =>
  room.of({ tenant, cost: Math.min(memoryOf(bodyBytes), countedBytes()), signal });

const secondsDefault = 30;

async function fetchTool(deps: RunDeps, page: PageDeps, ...[caller, args, signal]: Call): Promise<ToolAnswer> {
  using deadline = startDeadline(deps.clock, numberOr(args['timeout_secs'], secondsDefault) * 1_000, signal);
  using taken = roomFor(deps, caller, deadline.signal);
  const found = await fetchPage(page, {
    url: args['url'] as string,
    domains: caller.security.domain_allowlist,
    followRedirects: args['follow_redirects'] !== false,
    signal: deadline.signal,
    grow: taken.grow,
  });
  if (found.location !== undefined)
    return answer(`HTTP ${found.status}: redirects to ${found.location}, which was not followed`);
  if (found.status >= 400) return failure('HttpError', `the server answered ${found.status}`);
  const isWanted = args['to_markdown'] !== false && isHtml(found);
  return answer(isWanted ? await deps.toMarkdown(found.text, caller.tenant) : found.text);
}

const isHtml = ({ contentType }: FetchedPage): boolean =>
  /^\s*(?:text\/html|application\/xhtml\+xml)/i.test(contentType);

const notConfigured = 'web.search is not configured: add api_key to the web.search entry in spec.builtin_dispatchers';
const resultsDefault = 10;

interface Configured {
  readonly name: keyof typeof searchProviders;
  readonly endpoint: string | undefined;
  readonly key: string;
}

/** An instance of SearXNG needs no key. */
function configured({ search }: WebToolsDeps): Configured | undefined {
  const { provider: name = 'brave', endpoint, api_key: key } = search ?? {};
  if (key === undefined && (name !== 'searxng' || endpoint === undefined)) return undefined;
  return { name, endpoint, key: key?.reveal() ?? '' };
}

const requestOf = ({ name, ...settings }: Configured, asked: { readonly query: string; readonly count: number }) =>
  searchProviders[name].request({ ...settings, ...asked });

async function searchTool(deps: RunDeps, page: PageDeps, ...[caller, args, signal]: Call): Promise<ToolAnswer> {
  const settings = configured(deps);
  if (settings === undefined) return { content: notConfigured, isError: true };
  using deadline = startDeadline(deps.clock, secondsDefault * 1_000, signal);
  const count = numberOr(args['max_results'], resultsDefault);
  const request = requestOf(settings, { query: args['query'] as string, count });
  const domains = caller.security.domain_allowlist;
  using taken = roomFor(deps, caller, deadline.signal);
  const asked = { ...request, domains, followRedirects: false, signal: deadline.signal, grow: taken.grow };
  const found = await fetchPage(page, asked);
  if (found.status !== 200) return failure('HttpError', `the search provider answered ${found.status}`);
  return answer(listOf(searchProviders[settings.name].results(JSON.parse(found.text) as unknown).slice(0, count)));
}

function listOf(results: readonly SearchResult[]): string {
  if (results.length === 0) return 'No results.';
  return results.map(({ title, url, snippet }, index) => `${index + 1}. ${title}\n   ${url}\n   ${snippet}`).join('\n');
}

/** Errors that a tool gives are answers, by their name. */
async function explained(answered: Promise<ToolAnswer>): Promise<ToolAnswer> {
  try {
    return await answered;
  } catch (error) {
    if (error instanceof SyntaxError)
      return failure('NetworkError', 'the search provider answered with something that is no JSON');
    if (error instanceof AppError) return failure(error.reason, error.message);
    throw error;
  }
}

const numberOr = (value: unknown, fallback: number): number => (typeof value === 'number' ? value : fallback);
