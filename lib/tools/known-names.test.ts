import { describe, expect, it } from 'vitest';
import { catalogue } from './catalogue/catalogue.ts';
import { toolNameProblem, toolPatternProblem } from './known-names.ts';

describe('an entry of spec.tools of an agent', () => {
  it('may be every tool of the catalogue, and every group of them', () => {
    const names = [...catalogue.keys()];
    const groups = names.map((name) => `${name.slice(0, name.lastIndexOf('.'))}.*`);
    expect([...names, ...groups, 'svc.*', 'cmd'].map(toolNameProblem).filter((found) => found !== undefined)).toEqual(
      [],
    );
  });

  it.each([
    ['svc.file.raed', 'there is no tool svc.file.raed; did you mean svc.file.read?'],
    ['fs.reed', 'there is no tool fs.reed; did you mean fs.read?'],
    ['cmd.runs', 'there is no tool cmd.runs; did you mean cmd.run?'],
    ['svc.file.open', /^there is no tool svc\.file\.open; svc\.file\.\* has svc\.file\.\w+, /],
    ['svc.nothing.*', /^there is no tool svc\.nothing\.\*; svc\.\* has .* and \d+ others$/],
    ['web.', /^there is no tool web\.; web\.\* has web\.fetch, web\.search$/],
  ])('is refused as %s, with the nearest names', (entry, message) => {
    expect(toolNameProblem(entry)).toEqual({ severity: 'error', message: expect.stringMatching(message) as unknown });
  });

  it('may be a registered tool, and is warned of where it looks like a slip', () => {
    expect(toolNameProblem('orders.list')).toBeUndefined();
    const message = 'web_fetch is no built-in tool; if no tool is registered by that name, write web.fetch';
    expect(toolNameProblem('web_fetch')).toEqual({ severity: 'warning', message });
  });
});

describe('a pattern of a SecurityContext', () => {
  it.each(['*', 'fs.*', 'fs.read', '*.read', 'svc.*.list', 'orders.*', 'orders', '/etc/**', 'volume:a/**', 'fs.r*'])(
    'may be %s',
    (pattern) => {
      expect(toolPatternProblem(pattern)).toBeUndefined();
    },
  );

  it.each([
    ['svc.file.raed', 'svc.file.raed fits no tool; did you mean svc.file.read?'],
    ['fs.x*', /^fs\.x\* fits no tool; fs\.\* has /],
    ['svc.flie.*', /^svc\.flie\.\* fits no tool; svc\.\* has /],
  ])('fits nothing as %s', (pattern, message) => {
    expect(toolPatternProblem(pattern)).toMatch(message);
  });
});
