import { Agent, type Dispatcher, request } from 'undici';

interface BrowserOptions {
  /** Certificates to trust, PEM. */
  readonly ca?: string;
  /** Values of the fields of forms. */
  readonly fields?: Readonly<Record<string, string>>;
  /** A redirect to here is the end of the visit. */
  readonly until?: string;
}

/** Where a visit ended: at the address it was to reach, or on a page without a form. */
interface BrowserVisit {
  readonly url: URL;
  readonly page: string;
}

const stepsMax = 20;

/** A person with a browser: follows redirects, keeps cookies, fills in forms and sends them. */
export async function visit(start: string, options: BrowserOptions = {}): Promise<BrowserVisit> {
  const agent = new Agent({ connect: { ca: options.ca } });
  const cookies = new Map<string, string>();
  let next: Step = { url: new URL(start), method: 'GET' };
  try {
    for (let step = 0; step < stepsMax; step++) {
      if (options.until !== undefined && next.url.href.startsWith(options.until)) return { url: next.url, page: '' };
      const answer = await take(next, agent, cookies);
      const page = await answer.body.text();
      const following = afterRedirect(next.url, answer) ?? afterForm(next.url, page, options.fields ?? {});
      if (answer.statusCode >= 400) throw new Error(`${next.url.pathname} answered ${answer.statusCode}: ${page}`);
      if (following === undefined) return { url: next.url, page };
      next = following;
    }
    throw new Error(`the sign-in did not end; last at ${next.url.pathname}`);
  } finally {
    await agent.close();
  }
}

interface Step {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly body?: string;
}

async function take(step: Step, dispatcher: Agent, cookies: Map<string, string>): Promise<Dispatcher.ResponseData> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const form = step.body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  const { url, method, body } = step;
  const answer = await request(url, { dispatcher, method, body, headers: { ...form, cookie } });
  for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
    const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split('=', 2);
    if (value === '') cookies.delete(name);
    else cookies.set(name, value);
  }
  return answer;
}

function afterRedirect(url: URL, { statusCode, headers }: Dispatcher.ResponseData): Step | undefined {
  const { location } = headers;
  if (statusCode < 300 || statusCode >= 400 || typeof location !== 'string') return undefined;
  return { url: new URL(location, url), method: 'GET' };
}

function afterForm(url: URL, page: string, fields: Readonly<Record<string, string>>): Step | undefined {
  const form = /<form\b([^>]*)>([\s\S]*?)<\/form>/.exec(page);
  if (form === null) return undefined;
  const values = new URLSearchParams();
  for (const [input] of (form[2] ?? '').matchAll(/<input\b[^>]*>/g)) {
    const name = attribute(input, 'name');
    if (name !== undefined) values.set(name, fields[name] ?? attribute(input, 'value') ?? '');
  }
  const action = new URL(attribute(form[1] ?? '', 'action') ?? '', url);
  return { url: action, method: 'POST', body: values.toString() };
}

function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
  return value?.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}
