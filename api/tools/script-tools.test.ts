import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import type { Script } from '../../crds/schema/script.ts';
import { type JsonPatchOperation, KubeError, type KubeObject, type Resource } from '../../lib/kube/index.ts';
import { createServiceToolsWorld, type ServiceToolsWorld } from '../../test/support/service-tools.ts';
import type { ServiceToolsDeps } from './service-tools.ts';

const idOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
let world: ServiceToolsWorld;
let stored: Script[];
let version = 0;

const failure = (status: number, reason: string): KubeError =>
  new KubeError(status, { reason, message: reason }, { verb: 'x', resource: 'scripts' });

/** The scripts of two namespaces as the server keeps them. */
function server() {
  const at = ({ name, namespace }: { name: string; namespace: string }): number => {
    const index = stored.findIndex(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
    if (index < 0) throw failure(404, 'NotFound');
    return index;
  };
  return {
    create: async (_: unknown, object: Script) => {
      if (stored.some(({ metadata }) => metadata.name === object.metadata.name)) throw failure(409, 'AlreadyExists');
      const made = {
        ...object,
        metadata: { ...object.metadata, uid: idOf(stored.length + 1), resourceVersion: String((version += 1)) },
      };
      stored.push(made);
      return made;
    },
    list: async ({ metadataOnly = false }: Resource, { namespace = '' }) => {
      const items = stored.filter(({ metadata }) => metadata.namespace === namespace);
      if (metadataOnly) return { metadata: {}, items: items.map(({ metadata }) => ({ metadata })) };
      wholes += items.length;
      return { metadata: {}, items };
    },
    get: async (_: unknown, ref: { name: string; namespace: string }) => {
      wholes += 1;
      return stored[at(ref)];
    },
    jsonPatch: async (_: unknown, ref: { name: string; namespace: string }, [, replace]: JsonPatchOperation[]) => {
      const index = at(ref);
      const before = stored[index] as Script;
      const metadata = { ...before.metadata, resourceVersion: String((version += 1)) };
      const changed = { ...before, metadata, spec: replace?.value as Script['spec'] };
      stored[index] = changed;
      return changed;
    },
    delete: async (_: unknown, ref: { name: string; namespace: string }) => stored.splice(at(ref), 1).length > 0,
  } as unknown as ServiceToolsDeps['kube'];
}

/** Requests that read whole objects. */
let wholes: number;

const foreign: KubeObject & Pick<Script, 'spec'> = {
  metadata: { name: 'theirs', namespace: 'tenant-other', uid: idOf(99) },
  spec: { name: 'theirs', code: 'x' },
};

beforeEach(() => {
  stored = [foreign as Script];
  wholes = 0;
  world = createServiceToolsWorld({ kube: server() });
});

const save = (name: string, further: object = {}) =>
  world.valueOf('svc.script.save', { name, code: 'print(1)', ...further }) as Promise<{ id: string; object: string }>;
const textOf = async (name: string, args: object): Promise<string> =>
  (await world.run(name, args as Record<string, unknown>)).content;

describe('scripts', () => {
  it('TOOL-027 TOOL-080 are saved and read by id and by name', async () => {
    const { id, object } = await save('hello', { language: 'python', tags: ['a', 'b', 'a'], description: 'Greets.' });
    for (const one of [id, object])
      expect(await world.valueOf('svc.script.get', { id: one })).toEqual({
        id,
        object: 'hello',
        name: 'hello',
        code: 'print(1)',
        characters: 8,
        language: 'python',
        tags: ['a', 'b'],
        description: 'Greets.',
      });
    expect(world.audited).toMatchObject([{ type: 'ScriptSaved', subject: id }]);
  });

  it('TOOL-027 take any name, and each once', async () => {
    const { object } = await save('Greet the user!');
    expect(object).toMatch(/^script-[a-z0-9]{40}$/);
    expect(await textOf('svc.script.save', { name: 'Greet the user!', code: 'x' })).toMatch(/^CONFLICT: .*already/);
    expect((await save(idOf(5))).object).toMatch(/^script-/);
  });

  it.each([
    [limits.scriptLength - 1, /^\{"id":/],
    [limits.scriptLength, /^\{"id":/],
    [limits.scriptLength + 1, /^INVALID_ARGUMENT: code must have at most/],
  ])('TOOL-027 of %i characters are answered %s', async (length, want) => {
    expect(await textOf('svc.script.save', { name: 'long', code: 'x'.repeat(length) })).toMatch(want);
  });

  it.each([
    [{ name: ' a', code: 'x' }, /^INVALID_ARGUMENT: name begins or ends with blanks/],
    [{ name: '', code: 'x' }, /^INVALID_ARGUMENT: name must have at least 1/],
    [{ name: 'a', code: '' }, /^INVALID_ARGUMENT: code must have at least 1/],
    [{ name: 'x'.repeat(limits.nameLength + 1), code: 'x' }, /^INVALID_ARGUMENT: name must have at most/],
    [
      { name: 'a', code: 'x', tags: Array.from({ length: limits.scriptTags + 1 }, (_, index) => `t${index}`) },
      /^INVALID_ARGUMENT: tags must have at most/,
    ],
  ])('TOOL-027 with %j are refused', async (args, want) => {
    expect(await textOf('svc.script.save', args)).toMatch(want);
    expect(stored).toHaveLength(1);
  });

  it('TOOL-028 are replaced as a whole, also by another name', async () => {
    const { id } = await save('hello', { tags: ['a'] });
    await save('other');
    expect(await textOf('svc.script.update', { id, name: 'other', code: 'x' })).toMatch(/^CONFLICT/);
    expect(await world.valueOf('svc.script.update', { id, name: 'hello', code: 'x' })).toMatchObject({ id });
    await world.valueOf('svc.script.update', { id, name: 'renamed', code: 'y' });
    const value = await world.valueOf('svc.script.get', { id });
    expect(value).toMatchObject({ name: 'renamed', code: 'y', object: 'hello' });
    expect(value).not.toHaveProperty('tags');
  });

  it('TOOL-029 are deleted', async () => {
    const { id } = await save('hello');
    expect(await world.valueOf('svc.script.delete', { id })).toEqual({ id, status: 'deleted' });
    expect(await textOf('svc.script.get', { id })).toMatch(/^NOT_FOUND: there is no script/);
  });

  it.each(['svc.script.get', 'svc.script.delete', 'svc.script.update'])(
    'AMB-194 of another tenant do not exist for %s',
    async (name) => {
      for (const id of [idOf(99), 'theirs'])
        expect(await textOf(name, { id, name: 'a', code: 'x' })).toMatch(/^NOT_FOUND: there is no script/);
      expect(stored).toEqual([foreign]);
    },
  );

  it('TOOL-079 TOOL-RULE-15 are listed by tag and words, without their code', async () => {
    await save('one', { tags: ['x'], description: 'Greets people.' });
    await save('two', { tags: ['y'] });
    const names = async (args: object) => {
      const { scripts } = (await world.valueOf('svc.script.list', args as Record<string, unknown>)) as {
        scripts: { name: string }[];
      };
      expect(JSON.stringify(scripts)).not.toContain('print');
      return scripts.map(({ name }) => name);
    };
    expect(await names({})).toEqual(['one', 'two']);
    expect(await names({ tag: 'x' })).toEqual(['one']);
    expect(await names({ tag: 'X' })).toEqual([]);
    expect(await names({ q: 'PEOPLE greets' })).toEqual(['one']);
    expect(await names({ tag: 'y', q: 'greets' })).toEqual([]);
  });

  it('TOOL-079 are read once for each of their versions, however many lists and names are asked for', async () => {
    const { id } = await save('one');
    for (const name of ['two', 'three', 'four']) await save(name);
    await Promise.all(Array.from({ length: 25 }, () => world.valueOf('svc.script.list')));
    expect(wholes).toBe(4);
    await save('five');
    await world.valueOf('svc.script.list');
    expect(wholes).toBe(5);
    await world.valueOf('svc.script.update', { id, name: 'renamed', code: 'x' });
    // The update reads the script that it changes.
    expect(wholes).toBe(6);
    const rows = JSON.stringify(await world.valueOf('svc.script.list'));
    expect(rows).toContain('"name":"renamed"');
    expect(rows).not.toContain('"name":"one"');
    expect(wholes).toBe(7);
  });
});
