import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../logger.ts';
import { loadNodeConfig } from './load-node-config.ts';
import { emptyNodeConfig } from './node-config.ts';

const key = 'sk-hunter2';

describe('loadNodeConfig', () => {
  let folder = '';
  const lines: string[] = [];
  const logger = createLogger({
    level: 'debug',
    service: 'test',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const load = (env: Record<string, string>) =>
    loadNodeConfig(
      { ...env, WINDLASS_REQUIRE_KEY_REFERENCES: env.WINDLASS_REQUIRE_KEY_REFERENCES === 'true' },
      env,
      logger,
    );

  beforeEach(async () => {
    lines.length = 0;
    folder = await mkdtemp(join(tmpdir(), 'windlass-node-config-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const write = async (apiKey: string): Promise<string> => {
    const path = join(folder, 'node.yaml');
    const provider = `{ name: cloud, type: openai, api_key: "${apiKey}", models: [{ alias: default, model: m }] }`;
    await writeFile(path, `spec:\n  llm_providers: [${provider}]\n`);
    return path;
  };

  it('is empty without a file', () => {
    expect(load({})).toBe(emptyNodeConfig);
  });

  it('LLM-05 reads the file and the key of a mounted Secret', async () => {
    await mkdir(join(folder, 'keys'));
    await writeFile(join(folder, 'keys/openai'), `${key}\n`);
    const config = load({ WINDLASS_NODE_CONFIG: await write('secret:keys/openai'), WINDLASS_NODE_SECRETS: folder });
    expect(config.llm_providers[0]?.api_key?.reveal()).toBe(key);
    expect(lines).toEqual([]);
  });

  it.each([8_191, 8_192, 8_193])('takes a mounted key of 8192 bytes at most, and is given %i', async (length) => {
    await mkdir(join(folder, 'keys'));
    await writeFile(join(folder, 'keys/openai'), 'k'.repeat(length));
    const env = { WINDLASS_NODE_CONFIG: await write('secret:keys/openai'), WINDLASS_NODE_SECRETS: folder };
    const outcome = (): unknown => {
      try {
        return load(env).llm_providers[0]?.api_key?.reveal().length;
      } catch (error) {
        return String(error).includes('is not mounted, or cannot be read');
      }
    };
    expect(outcome()).toBe(length <= 8_192 ? length : true);
  });

  it('AMB-201 LLM-17 logs a warning for a literal key, and not the key', async () => {
    load({ WINDLASS_NODE_CONFIG: await write(key) });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', field: 'spec.llm_providers[0].api_key' });
    expect(lines[0]).not.toContain(key);
  });

  it('AMB-201 refuses a literal key where references are required', async () => {
    const env = { WINDLASS_NODE_CONFIG: await write(key), WINDLASS_REQUIRE_KEY_REFERENCES: 'true' };
    expect(() => load(env)).toThrow('spec.llm_providers[0].api_key: must be a reference');
  });

  it('names the variable whose file is absent or too large', async () => {
    expect(() => load({ WINDLASS_NODE_CONFIG: join(folder, 'absent') })).toThrow('WINDLASS_NODE_CONFIG: names a file');
    const path = join(folder, 'large');
    await writeFile(path, ' '.repeat(262_145));
    expect(() => load({ WINDLASS_NODE_CONFIG: path })).toThrow('at most 262144');
  });
});
